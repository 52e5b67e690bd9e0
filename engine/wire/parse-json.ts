import type { JsonValue } from '../contract/values.ts';

/** The value of a JSON text; undefined where it is none, as when a proxy in front of a vendor answers HTML. */
export function parsedJson(text: Buffer | string): JsonValue | undefined {
  try {
    return JSON.parse(typeof text === 'string' ? text : text.toString('utf8')) as JsonValue;
  } catch {
    return undefined;
  }
}
