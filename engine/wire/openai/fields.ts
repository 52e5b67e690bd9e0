/** Reading JSON of unknown shape: a field that is not what it must be is an error that names it. */
import type { JsonObject, JsonValue } from '../../contract/values.ts';
import { GatewayError } from '../../errors.ts';

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function invalidType(param: string, expected: string): GatewayError {
  return new GatewayError('invalid_type', `\`${param}\` must be ${expected}.`, { param });
}

/** A field whose meaning cannot be carried to where the request goes. */
export function unsupported(param: string, why: string): GatewayError {
  return new GatewayError('unsupported_parameter', `\`${param}\` ${why}`, { param });
}

export function objectAt(value: JsonValue | undefined, param: string): JsonObject {
  if (!isObject(value)) throw invalidType(param, 'an object');
  return value;
}

export function arrayAt(value: JsonValue | undefined, param: string): JsonValue[] {
  if (!Array.isArray(value)) throw invalidType(param, 'an array');
  return value;
}

export function stringAt(value: JsonValue | undefined, param: string): string {
  if (typeof value !== 'string') throw invalidType(param, 'a string');
  return value;
}

/** Null and absent mean the same: not said. */
const isAbsent = (value: JsonValue | undefined): value is null | undefined => value === undefined || value === null;

export function stringOrNull(value: JsonValue | undefined, param: string): string | null {
  return isAbsent(value) ? null : stringAt(value, param);
}

export function numberOrNull(value: JsonValue | undefined, param: string): number | null {
  if (isAbsent(value)) return null;
  if (typeof value !== 'number' || !Number.isFinite(value)) throw invalidType(param, 'a number');
  return value;
}

export function booleanOrNull(value: JsonValue | undefined, param: string): boolean | null {
  if (isAbsent(value)) return null;
  if (typeof value !== 'boolean') throw invalidType(param, 'true or false');
  return value;
}

/** `stop`: a string, a list of strings, or nothing. */
export function stopAt(value: JsonValue | undefined, param: string): readonly string[] {
  if (isAbsent(value)) return [];
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) throw invalidType(param, 'a string or an array of strings');
  return value.map((one, index) => stringAt(one, `${param}[${index}]`));
}

/** The object without members that are null, undefined or an empty array. */
export function present(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const kept = Object.entries(members).filter(([, value]) => !isAbsent(value) && !isEmptyArray(value));
  return Object.fromEntries(kept) as JsonObject;
}

const isEmptyArray = (value: JsonValue | undefined): boolean => Array.isArray(value) && value.length === 0;
