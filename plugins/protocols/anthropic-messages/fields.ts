/** Which request fields have a neutral place, and which of the others may not get lost on the way to another protocol. */
import { type JsonObject, type JsonValue, packExtra } from '../../../engine/plugin.ts';

export const protocolName = 'anthropic-messages';

const neutralFields: ReadonlySet<string> = new Set([
  'model',
  'max_tokens',
  'messages',
  'system',
  'stop_sequences',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'output_format',
  'metadata',
]);

/** Tools and rooms at the vendor; all others (caching, tiers, places, housekeeping) can be done without. */
const bindingFields = ['mcp_servers', 'container'];

export function extraOf(body: JsonObject): JsonObject {
  const kept = Object.entries(body).filter(([name, value]) => !neutralFields.has(name) && value !== null);
  const fields: JsonObject = Object.fromEntries(kept);
  return packExtra(
    protocolName,
    fields,
    bindingFields.filter((name) => says(fields[name])),
  );
}

const says = (value: JsonValue | undefined): boolean => (Array.isArray(value) ? value.length > 0 : value !== undefined);
