/** OpenAI's own rules for `strict` schemas, which those of other vendors need not follow. */
import type { JsonValue } from '../../contract/values.ts';
import { isObject } from './fields.ts';

/** Deeper than the ten levels that a vendor takes. */
const deepest = 30;

/** Whether every object in the schema names all its members as required and allows no others. */
export function isStrictSchema(schema: JsonValue): boolean {
  return isObject(schema) && schema.anyOf === undefined && isClosed(schema, 0);
}

function isClosed(value: JsonValue, depth: number): boolean {
  if (depth > deepest) return false;
  if (Array.isArray(value)) return value.every((one) => isClosed(one, depth + 1));
  if (!isObject(value)) return true;
  const { properties, required, additionalProperties, type } = value;
  const isOfObject = type === 'object' || (Array.isArray(type) && type.includes('object')) || isObject(properties);
  if (isOfObject) {
    const names = isObject(properties) ? Object.keys(properties) : [];
    if (additionalProperties !== false) return false;
    if (!names.every((name) => Array.isArray(required) && required.includes(name))) return false;
  }
  const below = [properties, value.$defs, value.definitions].flatMap((members) =>
    isObject(members) ? Object.values(members) : [],
  );
  return [...below, value.items ?? null, value.anyOf ?? null].every((one) => isClosed(one, depth + 1));
}
