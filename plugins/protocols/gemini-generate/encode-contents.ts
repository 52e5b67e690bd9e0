/** Neutral messages as contents: `user` and `model` in turn, the results of a turn in one content. */
import { type ChatMessage, type ChatPart, GatewayError, isObject, type JsonObject } from '../../../engine/plugin.ts';
import { encodePart } from './encode-part.ts';
import { isSigning } from './generation.ts';
import { geminiSignature, unsigned } from './signature.ts';

type ToolCall = Extract<ChatPart, { type: 'tool-call' }>;
type ToolResult = Extract<ChatPart, { type: 'tool-result' }>;

/** There is one place for system text, before the first turn. */
export function encodeSystem(messages: readonly ChatMessage[]): JsonObject | null {
  const parts = messages.flatMap(({ role, parts }) =>
    role === 'system' ? parts.flatMap((part) => encodePart(part, 'messages')) : [],
  );
  return parts.length === 0 ? null : { parts };
}

export function encodeContents(messages: readonly ChatMessage[], vendorModel: string): JsonObject[] {
  const names = new Map<string, string>();
  const signs = isSigning(vendorModel);
  const contents: { role: 'user' | 'model'; parts: JsonObject[] }[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === 'system') continue;
    const place = `messages[${index}]`;
    const role = message.role === 'assistant' ? 'model' : 'user';
    const parts = message.parts.flatMap((part): JsonObject[] => {
      if (part.type === 'tool-call') {
        // Some vendors use their ids again in every turn: the last call of an id is the one that is answered.
        names.set(part.id, part.name);
        return [encodeCall(part)];
      }
      return part.type === 'tool-result' ? encodeResult(part, names, signs, place) : encodePart(part, place);
    });
    const last = contents.at(-1);
    if (last?.role === role) for (const part of parts) last.parts.push(part);
    else if (parts.length > 0) contents.push({ role, parts });
  }
  if (signs) for (const { role, parts } of contents) if (role === 'model') signFirstCall(parts);
  return contents;
}

/** Of the calls of a turn the first must be signed. */
function signFirstCall(parts: JsonObject[]): void {
  const at = parts.findIndex(({ functionCall }) => functionCall !== undefined);
  const first = parts[at];
  if (first !== undefined && first.thoughtSignature === undefined) parts[at] = { ...first, thoughtSignature: unsigned };
}

function encodeCall({ id, name, arguments: text, signature }: ToolCall): JsonObject {
  const thoughtSignature = geminiSignature(signature);
  const functionCall = { id, name, args: argumentsOf(text) };
  return { functionCall, ...(thoughtSignature === null ? {} : { thoughtSignature }) };
}

/** What a model wrote as arguments need not be an object: it is shown to this one as it was. */
function argumentsOf(text: string): JsonObject {
  const value = text.trim() === '' ? {} : parsed(text);
  return isObject(value) ? value : { arguments: text };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Results name their calls by id, Gemini wants the function's name too. Media stand within the result where the model knows that, else behind it. */
function encodeResult(
  { id, parts, error }: ToolResult,
  names: ReadonlyMap<string, string>,
  nests: boolean,
  place: string,
): JsonObject[] {
  const name = names.get(id);
  if (name === undefined)
    throw new GatewayError('invalid_value', `\`${place}\` is the result of a call that is not in the conversation.`, {
      param: place,
    });
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const media = parts.filter((part) => part.type !== 'text');
  const response = error ? { error: text } : responseOf(text);
  const nested = nests && media.every(isInline);
  const shown = media.flatMap((part) => encodePart(part, place));
  const functionResponse = { id, name, response, ...(nested && shown.length > 0 ? { parts: shown } : {}) };
  return [{ functionResponse }, ...(nested ? [] : shown)];
}

const isInline = (part: ChatPart): boolean => 'data' in part && part.data !== null;

/** It must be an object: a text that is one stands as it is. */
function responseOf(text: string): JsonObject {
  const value = text.startsWith('{') ? parsed(text) : undefined;
  return isObject(value) ? value : { result: text };
}
