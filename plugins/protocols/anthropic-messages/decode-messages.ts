/** Turns in neutral form: tool results stand as messages of their own, before what else the user says. */
import {
  arrayAt,
  type ChatMessage,
  type ChatPart,
  GatewayError,
  type JsonValue,
  objectAt,
  stringAt,
} from '../../../engine/plugin.ts';
import { decodeAssistant } from './decode-assistant.ts';
import { decodeBlock } from './decode-block.ts';

export function decodeMessages(messages: readonly JsonValue[]): ChatMessage[] {
  return messages.flatMap((message, index) => decodeTurn(message, `messages[${index}]`));
}

function decodeTurn(value: JsonValue, place: string): ChatMessage[] {
  const message = objectAt(value, place);
  const at = `${place}.content`;
  switch (stringAt(message.role, `${place}.role`)) {
    case 'user':
      return userMessages(
        contentOf(message.content, at).flatMap((block, index) => decodeBlock(block, `${at}[${index}]`)),
      );
    case 'assistant':
      return [{ role: 'assistant', parts: decodeAssistant(contentOf(message.content, at), at) }];
    case 'system':
      return [{ role: 'system', parts: [{ type: 'text', text: decodeText(message.content, at) }] }];
    default:
      throw new GatewayError('invalid_value', `\`${place}.role\` must be user, assistant or system.`, {
        param: `${place}.role`,
      });
  }
}

function contentOf(content: JsonValue | undefined, place: string): JsonValue[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : arrayAt(content, place);
}

function userMessages(parts: readonly ChatPart[]): ChatMessage[] {
  const results = parts.filter((part) => part.type === 'tool-result');
  const said = parts.filter((part) => part.type !== 'tool-result');
  const answers = results.map((result): ChatMessage => ({ role: 'tool', parts: [result] }));
  return said.length === 0 && results.length > 0 ? answers : [...answers, { role: 'user', parts: said }];
}

/** Text as a string or as blocks of text; blocks are set apart by a blank line. */
export function decodeText(content: JsonValue | undefined, place: string): string {
  return contentOf(content, place)
    .map((block, index) => stringAt(objectAt(block, `${place}[${index}]`).text, `${place}[${index}].text`))
    .join('\n\n');
}
