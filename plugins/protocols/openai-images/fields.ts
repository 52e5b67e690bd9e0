/** Reading the scalars of an image request: typed in JSON, text in multipart. Null and absent mean: not said. */
import { GatewayError, type JsonValue, quoted } from '../../../engine/plugin.ts';

/** One request's scalars by name. `undefined`: absent. */
export interface Scalars {
  text(name: string): string | null;
  integer(name: string): number | null;
  flag(name: string): boolean | null;
}

const wrongType = (param: string, expected: string): GatewayError =>
  new GatewayError('invalid_type', `\`${param}\` must be ${expected}.`, { param });

export function jsonScalars(body: Readonly<Record<string, JsonValue>>): Scalars {
  const read = (name: string): JsonValue => (Object.hasOwn(body, name) ? body[name]! : null);
  return {
    text(name) {
      const value = read(name);
      if (value === null || typeof value === 'string') return value;
      throw wrongType(name, 'a string');
    },
    integer(name) {
      const value = read(name);
      if (value === null || (typeof value === 'number' && Number.isSafeInteger(value))) return value;
      throw wrongType(name, 'an integer');
    },
    flag(name) {
      const value = read(name);
      if (value === null || typeof value === 'boolean') return value;
      throw wrongType(name, 'true or false');
    },
  };
}

/** Multipart knows only text: numbers and flags are taken in their one canonical form. */
export function textScalars(fields: ReadonlyMap<string, string>): Scalars {
  return {
    text: (name) => fields.get(name) ?? null,
    integer(name) {
      const value = fields.get(name);
      if (value === undefined) return null;
      if (/^-?\d{1,15}$/.test(value)) return Number(value);
      throw wrongType(name, 'an integer');
    },
    flag(name) {
      const value = fields.get(name);
      if (value === undefined) return null;
      if (value === 'true' || value === 'false') return value === 'true';
      throw wrongType(name, 'true or false');
    },
  };
}

/** A string that must be there and must say something. */
export function requiredText(scalars: Scalars, param: string): string {
  const value = scalars.text(param);
  if (value === null) throw new GatewayError('missing_required_parameter', `\`${param}\` is missing.`, { param });
  if (value.trim() !== '') return value;
  throw new GatewayError('invalid_value', `\`${param}\` must not be empty.`, { param });
}

/** An integer between two bounds, or null. */
export function boundedInteger(scalars: Scalars, param: string, least: number, most: number): number | null {
  const value = scalars.integer(param);
  if (value === null || (value >= least && value <= most)) return value;
  const range = most === Number.MAX_SAFE_INTEGER ? `at least ${least}` : `between ${least} and ${most}`;
  throw new GatewayError('invalid_value', `\`${param}\` must be ${range}.`, { param });
}

export function responseFormat(scalars: Scalars): 'url' | 'b64_json' {
  const value = scalars.text('response_format') ?? 'url';
  if (value === 'url' || value === 'b64_json') return value;
  const message = `\`response_format\` ${quoted(value)} is not supported. Allowed: \`url\`, \`b64_json\`.`;
  throw new GatewayError('invalid_value', message, { param: 'response_format' });
}
