/** A vendor's whole reply as events. Throws `upstream_invalid_response` where it is none. */
import {
  type ChatEvent,
  isObject,
  type JsonValue,
  type OpenAiChoice,
  readFinish,
  readStart,
  readWhole,
  usageEvents,
} from '../../../engine/plugin.ts';
import { saidEvents } from './decode-said.ts';
import { ToolCallReader } from './decode-tool-calls.ts';

export function decodeReply(body: JsonValue): ChatEvent[] {
  const { value, choices } = readWhole(body);
  const calls = new ToolCallReader();
  return [readStart(value), ...choices.flatMap((choice) => choiceEvents(choice, calls)), ...usageEvents(value)];
}

function choiceEvents({ index, value }: OpenAiChoice, calls: ToolCallReader): ChatEvent[] {
  const message = isObject(value.message) ? value.message : {};
  return [
    ...saidEvents(index, message),
    ...calls.read(index, message.tool_calls),
    { type: 'finish', choice: index, reason: readFinish(value.finish_reason) },
  ];
}
