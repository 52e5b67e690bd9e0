/**
 * `extra` of a neutral request: `{ protocol, fields, binding }`. A vendor of the same protocol gets the fields as they
 * came. Another one does without them where that is harmless, and refuses the binding ones, which change the answer.
 */
import type { JsonObject } from '../../contract/values.ts';
import { isObject, unsupported } from './fields.ts';

/** Wraps up the fields that have no neutral place; `binding` names those that must not get lost. */
export function packExtra(protocol: string, fields: JsonObject, binding: readonly string[]): JsonObject {
  return Object.keys(fields).length === 0 ? {} : { protocol, fields, binding: [...binding] };
}

/**
 * What a vendor of `protocol` gets of them; of another protocol's fields only those in `shared`, which mean the same in
 * both. Throws `unsupported_parameter` for a binding field that would get lost.
 */
export function takeExtra(extra: JsonObject, protocol: string, shared: readonly string[] = []): JsonObject {
  const { fields } = extra;
  if (!isObject(fields)) return {};
  if (extra.protocol === protocol) return fields;
  const binding = Array.isArray(extra.binding) ? extra.binding : [];
  const lost = binding.find((name) => typeof name === 'string' && !shared.includes(name));
  if (typeof lost === 'string')
    throw unsupported(lost, 'cannot be carried to the protocol that this model’s vendor speaks.');
  return Object.fromEntries(Object.entries(fields).filter(([name]) => shared.includes(name)));
}
