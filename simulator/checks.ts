/** What is wrong with a field, in the words of OpenAI's API; xAI reuses the texts. */
export interface Problem {
  readonly param: string;
  readonly code: string | null;
  readonly message: string;
}

/** Returns what is wrong with a value, or nothing. `path` is what the vendor calls it: `messages[1].content`. */
export type Check = (value: unknown, path: string) => Problem | undefined;

export type Fields = Readonly<Record<string, Check>>;

export function checkText(limit = Number.POSITIVE_INFINITY): Check {
  return (value, path) => {
    if (typeof value !== 'string') return wrongType(path, 'a string', value);
    if (value.length <= limit) return undefined;
    const message = `Invalid '${path}': string too long. Expected a string with maximum length ${limit}, but got a string with length ${value.length} instead.`;
    return { param: path, code: 'string_above_max_length', message };
  };
}

function checkRange(kind: 'integer' | 'decimal', least: number, most: number): Check {
  const expected = kind === 'integer' ? 'an integer' : 'a decimal';
  return (value, path) => {
    if (typeof value !== 'number' || (kind === 'integer' && !Number.isInteger(value)))
      return wrongType(path, expected, value);
    if (value >= least && value <= most) return undefined;
    const [side, sign, bound] = value < least ? ['below minimum', '>=', least] : ['above maximum', '<=', most];
    const message = `Invalid '${path}': ${kind} ${side} value. Expected a value ${sign} ${bound}, but got ${value} instead.`;
    return { param: path, code: `${kind}_${value < least ? 'below_min' : 'above_max'}_value`, message };
  };
}

export const checkInteger = (least: number, most: number): Check => checkRange('integer', least, most);
export const checkDecimal = (least: number, most: number): Check => checkRange('decimal', least, most);

export const checkFlag: Check = (value, path) =>
  typeof value === 'boolean' ? undefined : wrongType(path, 'a boolean', value);

export const checkAnything: Check = () => undefined;

export function checkChoice(...choices: string[]): Check {
  return (value, path) => {
    if (typeof value !== 'string') return wrongType(path, `one of ${quoteList(choices)}`, value);
    return choices.includes(value) ? undefined : wrongValue(path, value, choices);
  };
}

export function checkList(item: Check, least: number, most: number): Check {
  return (value, path) => {
    if (!Array.isArray(value)) return wrongType(path, 'an array', value);
    if (value.length < least) return wrongLength(path, 'short', least, value.length);
    if (value.length > most) return wrongLength(path, 'long', most, value.length);
    return firstProblem(value.map((entry, index) => () => item(entry, `${path}[${index}]`)));
  };
}

export function checkObject(fields: Fields, required: readonly string[] = []): Check {
  return (value, path) => {
    if (!isRecord(value)) return wrongType(path, 'an object', value);
    return checkFields(value, fields, required, path);
  };
}

export const checkOpenObject: Check = (value, path) =>
  isRecord(value) ? undefined : wrongType(path, 'an object', value);

/** Takes the value with the check that belongs to its JSON type. */
export function checkByType(checks: Partial<Record<string, Check>>): Check {
  return (value, path) => {
    const check = checks[typeOf(value)];
    return check ? check(value, path) : wrongType(path, `one of ${quoteList(Object.keys(checks))}`, value);
  };
}

/** Unknown fields, missing fields, then each field by its check; null stands for an absent field, as official clients send it. */
export function checkFields(
  value: Record<string, unknown>,
  fields: Fields,
  required: readonly string[],
  path = '',
  lenient = false,
): Problem | undefined {
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const unknown = lenient ? undefined : Object.keys(value).find((name) => !Object.hasOwn(fields, name));
  if (unknown !== undefined)
    return { param: at(unknown), code: 'unknown_parameter', message: `Unknown parameter: '${at(unknown)}'.` };
  const missing = required.find((name) => value[name] === undefined || value[name] === null);
  if (missing !== undefined) {
    const message = `Missing required parameter: '${at(missing)}'.`;
    return { param: at(missing), code: 'missing_required_parameter', message };
  }
  const present = Object.entries(value).filter(([name, field]) => Object.hasOwn(fields, name) && field != null);
  return firstProblem(
    present.map(
      ([name, field]) =>
        () =>
          fields[name]!(field, at(name)),
    ),
  );
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function wrongValue(path: string, value: string, choices: readonly string[]): Problem {
  const message = `Invalid value: '${value}'. Supported values are: ${quoteList(choices)}.`;
  return { param: path, code: 'invalid_value', message };
}

function wrongType(path: string, expected: string, value: unknown): Problem {
  const message = `Invalid type for '${path}': expected ${expected}, but got ${describeType(value)} instead.`;
  return { param: path, code: 'invalid_type', message };
}

function wrongLength(path: string, which: 'short' | 'long', bound: number, length: number): Problem {
  const [code, limit] =
    which === 'short' ? ['array_below_min_length', 'minimum'] : ['array_above_max_length', 'maximum'];
  const message = `Invalid '${path}': array too ${which}. Expected an array with ${limit} length ${bound}, but got an array with length ${length} instead.`;
  return { param: path, code: length === 0 ? 'empty_array' : code!, message };
}

function firstProblem(checks: readonly (() => Problem | undefined)[]): Problem | undefined {
  for (const check of checks) {
    const problem = check();
    if (problem) return problem;
  }
  return undefined;
}

function quoteList(choices: readonly string[]): string {
  const quoted = choices.map((choice) => `'${choice}'`);
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')}, and ${quoted.at(-1)}`;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function describeType(value: unknown): string {
  if (value === null) return 'null';
  if (Number.isInteger(value)) return 'an integer';
  const type = typeOf(value);
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}
