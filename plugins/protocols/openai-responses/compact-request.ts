/** Compaction for vendors that have none: the conversation as a transcript, and the task to sum it up. */
import {
  type ChatMessage,
  type ChatPart,
  type ChatRequest,
  type JsonObject,
  stringOrNull,
} from '../../../engine/plugin.ts';
import { decodeInput } from './decode-items.ts';
import { decodeRequest } from './decode-request.ts';

const task = `You compact conversations between a user and an assistant. Write a summary that lets the assistant go on without having seen the conversation. Keep: what the user wants and how, decisions and their reasons, facts, names, paths, numbers and pieces of code that are still needed, what was done and with what result, what is left to do. Leave out what has been settled and is not needed again. Write the summary and nothing else.`;

/** Tools are part of the transcript: no vendor needs their definitions. */
export function decodeCompaction(body: JsonObject): ChatRequest {
  const { model, input } = body;
  const instructions = stringOrNull(body.instructions, 'instructions');
  const system = instructions === null || instructions === '' ? task : `${task}\n\n${instructions}`;
  const transcript = decodeInput(input).map(told).join('\n\n');
  const messages: ChatMessage[] = [
    { role: 'system', parts: [{ type: 'text', text: system }] },
    { role: 'user', parts: [{ type: 'text', text: `The conversation:\n\n${transcript}\n\nThe summary:` }] },
  ];
  return { ...decodeRequest({ model: model ?? '' }), messages, stream: body.stream === true };
}

const speakers: Readonly<Record<ChatMessage['role'], string>> = {
  system: 'System',
  user: 'User',
  assistant: 'Assistant',
  tool: 'Tool',
};

const told = ({ role, parts }: ChatMessage): string => `${speakers[role]}: ${parts.map(toldPart).join('\n')}`;

function toldPart(part: ChatPart): string {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text;
    case 'reasoning':
      return part.text === '' ? '' : `(thinks) ${part.text}`;
    case 'tool-call':
      return `(calls ${part.name} as ${part.id}) ${part.arguments}`;
    case 'tool-result':
      return `(answers ${part.id}) ${part.parts.map(toldPart).join('\n')}`;
    case 'file':
      return `(file ${part.name ?? part.url ?? ''})`;
    default:
      return `(${part.type})`;
  }
}
