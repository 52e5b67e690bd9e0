/** Neutral messages as turns: neighbours of one role are one turn, tool results come first in theirs. */
import {
  type ChatMessage,
  type ChatPart,
  type JsonObject,
  type JsonValue,
  unsupported,
} from '../../../engine/plugin.ts';
import { encodeParts, textBlocks } from './encode-part.ts';
import { ownThought } from './signatures.ts';
import { ToolIds } from './tool-ids.ts';

type ToolResult = Extract<ChatPart, { type: 'tool-result' }>;
type ToolCall = Extract<ChatPart, { type: 'tool-call' }>;

export interface Conversation {
  /** '' where nothing was said before the first turn. */
  readonly system: string;
  readonly messages: readonly Turn[];
}

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: JsonObject[];
}

export function encodeConversation(messages: readonly ChatMessage[]): Conversation {
  const opening = messages.findIndex(({ role }) => role !== 'system');
  // Nothing but system text: somebody has to say it, or there would be no turn at all.
  const first = opening < 0 ? 0 : opening;
  const system = messages.slice(0, first).map(textOf).filter(Boolean).join('\n\n');
  const ids = new ToolIds();
  const turns: Turn[] = [];
  for (const [index, message] of messages.entries()) {
    if (index < first) continue;
    addTurn(turns, encodeTurn(message, `messages[${index}]`, ids));
  }
  if (turns[0]?.role === 'assistant')
    throw unsupported(`messages[${first}].role`, 'must be `user`: this model’s vendor lets the user begin.');
  return { system, messages: turns.map(resultsFirst).map(trimmedEnd) };
}

const textOf = ({ parts }: ChatMessage): string =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n\n');

function addTurn(turns: Turn[], turn: Turn): void {
  if (turn.content.length === 0) return;
  const last = turns.at(-1);
  if (last?.role === turn.role) for (const block of turn.content) last.content.push(block);
  else turns.push(turn);
}

/** Later system text is the user's to say: older models know no other place for it. */
function encodeTurn({ role, parts }: ChatMessage, place: string, ids: ToolIds): Turn {
  if (role === 'assistant') return { role, content: encodeAssistant(parts, `${place}.content`, ids) };
  const content = parts.flatMap((part) =>
    part.type === 'tool-result' ? [encodeResult(part, ids)] : encodeParts([part], `${place}.content`),
  );
  return { role: 'user', content };
}

function encodeAssistant(parts: readonly ChatPart[], place: string, ids: ToolIds): JsonObject[] {
  return parts.flatMap((part): JsonObject[] => {
    switch (part.type) {
      case 'text':
      case 'refusal':
        return textBlocks(part.text);
      case 'reasoning': {
        const own = ownThought(part.text, part.signature);
        return own === null ? [] : [own];
      }
      case 'tool-call':
        return [encodeCall(part, ids)];
      default:
        throw unsupported(place, `cannot hold a part of the type ${part.type} in an assistant’s message.`);
    }
  });
}

function encodeCall(call: ToolCall, ids: ToolIds): JsonObject {
  return { type: 'tool_use', id: ids.call(call.id), name: call.name, input: readInput(call.arguments) };
}

/** What a model wrote as arguments need not be an object: it is shown to this one as it was. */
function readInput(text: string): JsonObject {
  if (text.trim() === '') return {};
  let value: JsonValue = text;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    // Broken arguments of an earlier turn must not end the conversation.
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { arguments: value };
}

function encodeResult({ id, parts, error }: ToolResult, ids: ToolIds): JsonObject {
  const content = encodeParts(parts, 'messages');
  return {
    type: 'tool_result',
    tool_use_id: ids.result(id),
    ...(content.length === 0 ? {} : { content: plain(content) }),
    ...(error ? { is_error: true } : {}),
  };
}

/** One text stands as a plain string, as clients write it. */
function plain(blocks: JsonObject[]): JsonValue {
  return blocks.length === 1 && typeof blocks[0]!.text === 'string' ? blocks[0]!.text : blocks;
}

const isResult = ({ type }: JsonObject): boolean => type === 'tool_result';

function resultsFirst({ role, content }: Turn): Turn {
  return { role, content: [...content.filter(isResult), ...content.filter((block) => !isResult(block))] };
}

/** A last turn of the assistant's is continued by the answer, and must not end in blanks. */
function trimmedEnd({ role, content }: Turn, index: number, turns: readonly Turn[]): Turn {
  const last = content.at(-1);
  if (role !== 'assistant' || index < turns.length - 1 || typeof last?.text !== 'string') return { role, content };
  return { role, content: [...content.slice(0, -1), { ...last, text: last.text.trimEnd() }] };
}
