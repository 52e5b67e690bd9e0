/** Google's own kind of schema (a subset of OpenAPI's, types in capitals) as JSON Schema. */
import { GatewayError, isObject, type JsonObject, type JsonValue } from '../../../engine/plugin.ts';

/** Deeper than any description of a value; beyond it the walk would exhaust the stack. */
const deepest = 100;

const counts: ReadonlySet<string> = new Set([
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
]);

export function decodeSchema(value: JsonValue, place: string, depth = 0): JsonValue {
  if (!isObject(value)) return value;
  if (depth > deepest)
    throw new GatewayError('invalid_value', `\`${place}\` is nested more than ${deepest} levels deep.`, {
      param: place,
    });
  const { type, nullable, propertyOrdering: _order, ...rest } = value;
  const below = (child: JsonValue) => decodeSchema(child, place, depth + 1);
  // Written at once, not one by one: a client's `__proto__` stays a name like any other.
  const members = Object.entries(rest).map(([name, member]) => [name, memberOf(name, member, below)]);
  const schema: JsonObject = { ...typeOf(type, nullable === true), ...Object.fromEntries(members) };
  if (nullable === true && Array.isArray(schema.enum)) schema.enum = [...schema.enum, null];
  return schema;
}

function typeOf(type: JsonValue | undefined, nullable: boolean): JsonObject {
  if (typeof type !== 'string') return type === undefined ? {} : { type };
  const word = type.toLowerCase();
  if (word === 'type_unspecified') return {};
  return { type: nullable ? [word, 'null'] : word };
}

function memberOf(name: string, member: JsonValue, below: (child: JsonValue) => JsonValue): JsonValue {
  if (name === 'properties' && isObject(member))
    return Object.fromEntries(Object.entries(member).map(([property, child]) => [property, below(child)]));
  if (name === 'items') return below(member);
  if (name === 'anyOf' && Array.isArray(member)) return member.map(below);
  // 64-bit numbers are text in Google's JSON.
  return counts.has(name) && typeof member === 'string' ? Number(member) : member;
}
