/** A conversation in neutral form. */
import type { ChatMessage, ChatPart, JsonObject, JsonValue } from '../../../engine/plugin.ts';
import { CallIds } from './decode-calls.ts';
import { decodePart } from './decode-part.ts';
import { listOf, messageAt } from './fields.ts';

export function decodeSystem(value: JsonValue | undefined): ChatMessage[] {
  if (value === undefined) return [];
  const { parts } = messageAt(value, 'systemInstruction');
  const decoded = listOf(parts).flatMap((part, index) => {
    const place = `systemInstruction.parts[${index}]`;
    return decodePart(messageAt(part, place), place);
  });
  return decoded.length === 0 ? [] : [{ role: 'system', parts: decoded }];
}

interface OpenMessage {
  readonly role: ChatMessage['role'];
  readonly parts: ChatPart[];
}

/** Chats of Google's SDK keep each piece of a streamed answer as a content of its own: neighbours become one message. */
export function decodeContents(value: JsonValue | undefined): ChatMessage[] {
  const messages: OpenMessage[] = [];
  const calls = new CallIds();
  const add = (role: ChatMessage['role'], parts: readonly ChatPart[]) => {
    if (parts.length === 0) return;
    if (messages.at(-1)?.role !== role) messages.push({ role, parts: [] });
    for (const part of parts) append(messages.at(-1)!.parts, part);
  };
  for (const [index, content] of listOf(value).entries()) {
    const place = `contents[${index}]`;
    const { role, parts } = messageAt(content, place);
    const read = listOf(parts).map((part, at) => messageAt(part, `${place}.parts[${at}]`));
    if (role === 'model') add('assistant', decodeModel(read, place, calls));
    else {
      const decoded = read.flatMap((part, at) => decodeUser(part, `${place}.parts[${at}]`, calls));
      add('tool', decoded.filter(isResult));
      add(
        'user',
        decoded.filter((part) => !isResult(part)),
      );
    }
  }
  return messages;
}

const isResult = ({ type }: ChatPart): boolean => type === 'tool-result';

const decodeModel = (parts: readonly JsonObject[], place: string, calls: CallIds): ChatPart[] =>
  parts.flatMap((part, at): ChatPart[] => {
    const here = `${place}.parts[${at}]`;
    return part.functionCall === undefined ? decodePart(part, here) : [calls.decodeCall(part, here)];
  });

const decodeUser = (part: JsonObject, place: string, calls: CallIds): ChatPart[] =>
  part.functionResponse === undefined ? decodePart(part, place) : [calls.decodeResult(part, place)];

/** Pieces of a text are one text; pieces of a thought are one thought, which its signature ends. */
function append(parts: ChatPart[], part: ChatPart): void {
  const last = parts.at(-1);
  if (part.type === 'text' && last?.type === 'text') parts[parts.length - 1] = { ...last, text: last.text + part.text };
  else if (isThought(part) && last?.type === 'reasoning' && last.signature === null)
    parts[parts.length - 1] = { ...part, text: last.text + part.text };
  else parts.push(part);
}

const isThought = (part: ChatPart): part is Extract<ChatPart, { type: 'reasoning' }> => part.type === 'reasoning';
