/** What a choice of a whole reply says, for an estimate where usage is missing. */
import { isObject, type JsonObject, type JsonValue } from '../../../engine/plugin.ts';

const text = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');

export function outputText({ message }: JsonObject): string {
  if (!isObject(message)) return '';
  const reasoning = text(message.reasoning_content) || text(message.reasoning);
  return reasoning + text(message.content) + text(message.refusal) + toolArguments(message.tool_calls);
}

function toolArguments(calls: JsonValue | undefined): string {
  if (!Array.isArray(calls)) return '';
  return calls
    .filter(isObject)
    .map((call) => (isObject(call.function) ? text(call.function.arguments) : ''))
    .join('');
}
