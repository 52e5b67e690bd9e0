/** Reading the fields of an OpenAI-style body that the gateway itself relies on; all others are the vendor's business. */
import type { JsonObject, JsonValue } from '../../contract/values.ts';
import { GatewayError } from '../../errors.ts';
import { invalidType } from './fields.ts';

export function requiredString(body: JsonObject, name: string): string {
  const value = body[name];
  if (value === undefined || value === null || value === '')
    throw new GatewayError('missing_required_parameter', `\`${name}\` is required.`, { param: name });
  if (typeof value !== 'string') throw invalidType(name, 'a string');
  return value;
}

export function optionalBoolean(body: JsonObject, name: string): boolean {
  const value = body[name];
  if (value === undefined || value === null) return false;
  if (typeof value !== 'boolean') throw invalidType(name, 'true or false');
  return value;
}

/** A whole number from `minimum` on, or null. */
export function optionalCount(body: JsonObject, name: string, minimum: number): number | null {
  const value = body[name];
  if (value === undefined || value === null) return null;
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw invalidType(name, 'an integer');
  if (value < minimum)
    throw new GatewayError('invalid_value', `\`${name}\` must be at least ${minimum}.`, { param: name });
  return value;
}

/** What `stream_options` says of usage; they are only legal with `stream: true`. */
export function wantsUsage(body: JsonObject, stream: boolean): boolean {
  const options: JsonValue | undefined = body.stream_options;
  if (options === undefined || options === null) return false;
  if (typeof options !== 'object' || Array.isArray(options)) throw invalidType('stream_options', 'an object');
  if (!stream)
    throw new GatewayError('invalid_value', '`stream_options` is only allowed when `stream` is true.', {
      param: 'stream_options',
    });
  return optionalBoolean(options, 'include_usage');
}
