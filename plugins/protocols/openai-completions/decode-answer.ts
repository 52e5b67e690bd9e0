/** A vendor's answer as events, whole or streamed: each choice has a `text`. */
import {
  type ChatEvent,
  decodeChunks,
  type JsonValue,
  type OpenAiChoice,
  readFinish,
  readStart,
  readWhole,
  type SseFrame,
  usageEvents,
} from '../../../engine/plugin.ts';

/** Throws `upstream_invalid_response` where the body is no reply. */
export function decodeReply(body: JsonValue): ChatEvent[] {
  const { value, choices } = readWhole(body);
  return [readStart(value), ...choices.flatMap(choiceEvents), ...usageEvents(value)];
}

export function decodeStream(): (frame: SseFrame) => ChatEvent[] {
  return decodeChunks(textEvents);
}

function choiceEvents(choice: OpenAiChoice): ChatEvent[] {
  const reason = readFinish(choice.value.finish_reason);
  return [...textEvents(choice), { type: 'finish', choice: choice.index, reason }];
}

function textEvents({ index, value }: OpenAiChoice): ChatEvent[] {
  return typeof value.text === 'string' && value.text !== '' ? [{ type: 'text', choice: index, text: value.text }] : [];
}
