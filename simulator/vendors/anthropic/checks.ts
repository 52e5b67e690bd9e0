import { isRecord } from '../../checks.ts';

/** Says what is wrong with a value, in the words of the Messages API, or nothing. `path` is dotted: `messages.0.content`. */
export type Check = (value: unknown, path: string) => string | undefined;

export type Fields = Readonly<Record<string, Check>>;

export const anything: Check = () => undefined;

export const nullable =
  (check: Check): Check =>
  (value, path) =>
    value === null ? undefined : check(value, path);

export function text(least = 0, most = Number.POSITIVE_INFINITY, pattern?: RegExp): Check {
  return (value, path) => {
    if (typeof value !== 'string') return `${path}: Input should be a valid string`;
    if (value.length < least) return `${path}: String should have at least ${least} character${least === 1 ? '' : 's'}`;
    if (value.length > most) return `${path}: String should have at most ${most} characters`;
    if (pattern && !pattern.test(value)) return `${path}: String should match pattern '${pattern.source}'`;
    return undefined;
  };
}

export function integer(least: number): Check {
  return (value, path) => {
    if (!Number.isInteger(value)) return `${path}: Input should be a valid integer`;
    return (value as number) < least ? `${path}: Input should be greater than or equal to ${least}` : undefined;
  };
}

export function decimal(least: number, most: number): Check {
  return (value, path) => {
    if (typeof value !== 'number') return `${path}: Input should be a valid number`;
    if (value < least) return `${path}: Input should be greater than or equal to ${least}`;
    return value > most ? `${path}: Input should be less than or equal to ${most}` : undefined;
  };
}

export const flag: Check = (value, path) =>
  typeof value === 'boolean' ? undefined : `${path}: Input should be a valid boolean`;

export const dictionary: Check = (value, path) =>
  isRecord(value) ? undefined : `${path}: Input should be a valid dictionary`;

export function choice(...choices: string[]): Check {
  return (value, path) =>
    choices.includes(value as string) ? undefined : `${path}: Input should be ${orList(choices)}`;
}

export function list(item: Check, least = 0): Check {
  return (value, path) => {
    if (!Array.isArray(value)) return `${path}: Input should be a valid list`;
    if (value.length < least) return `${path}: List should have at least ${least} item after validation, not 0`;
    return first(value, (entry, index) => item(entry, `${path}.${index}`));
  };
}

/** A text, or what the other check wants. */
export const textOr =
  (check: Check): Check =>
  (value, path) =>
    typeof value === 'string' ? undefined : check(value, path);

export function object(fields: Fields, required: readonly string[] = []): Check {
  return (value, path) =>
    isRecord(value) ? checkFields(value, fields, required, path) : `${path}: Input should be an object`;
}

/** Takes the check that belongs to the value's `type`, which becomes part of the path: `messages.0.content.0.text`. */
export function tagged(kinds: Fields): Check {
  return (value, path) => {
    if (!isRecord(value)) return `${path}: Input should be an object`;
    const { type } = value;
    if (type === undefined) return `${path}.type: Field required`;
    if (typeof type === 'string' && Object.hasOwn(kinds, type)) return kinds[type]!(value, `${path}.${type}`);
    const tags = Object.keys(kinds).map((kind) => `'${kind}'`);
    return `${path}: Input tag '${type}' found using 'type' does not match any of the expected tags: ${tags.join(', ')}`;
  };
}

/** Missing fields, each field by its check, then unknown fields. */
export function checkFields(
  value: Record<string, unknown>,
  fields: Fields,
  required: readonly string[],
  path = '',
  lenient = false,
): string | undefined {
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const missing = required.find((name) => value[name] === undefined);
  if (missing !== undefined) return `${at(missing)}: Field required`;
  const wrong = first(Object.entries(value), ([name, field]) =>
    Object.hasOwn(fields, name) ? fields[name]!(field, at(name)) : undefined,
  );
  if (wrong !== undefined || lenient) return wrong;
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(fields, name));
  return unknown === undefined ? undefined : `${at(unknown)}: Extra inputs are not permitted`;
}

/** The first problem that `problemOf` finds among the values. */
export function first<Value>(
  values: readonly Value[],
  problemOf: (value: Value, index: number) => string | undefined,
): string | undefined {
  for (const [index, value] of values.entries()) {
    const problem = problemOf(value, index);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function orList(choices: readonly string[]): string {
  const quoted = choices.map((entry) => `'${entry}'`);
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
}
