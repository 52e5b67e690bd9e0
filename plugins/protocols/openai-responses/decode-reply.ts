/** A vendor's whole response as events. Throws `upstream_invalid_response` where it is none. */
import { type ChatEvent, isObject, type JsonObject, type JsonValue, unusable } from '../../../engine/plugin.ts';
import { endEvents, outputEvents, startOf } from './decode-output.ts';

export function decodeReply(body: JsonValue): ChatEvent[] {
  const response = responseAt(body);
  const output = outputEvents(response.output);
  const hasCalls = output.some(({ type }) => type === 'tool-call');
  return [startOf(response), ...output, ...endEvents(response, hasCalls)];
}

/** Throws `upstream_invalid_response` where a value has no output. */
export function responseAt(body: JsonValue): JsonObject {
  if (!isObject(body) || !Array.isArray(body.output)) throw unusable('the answer has no output');
  return body;
}
