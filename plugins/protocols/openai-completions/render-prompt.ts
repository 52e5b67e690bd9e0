/**
 * A conversation as one text. A single user's words stand as they are. Anything longer becomes paragraphs that begin
 * with `System:`, `User:` or `Assistant:`, and ends with `Assistant:` for the model to go on, stopping where it would
 * invent the user's next words. An assistant's words at the end are left open to be continued.
 */
import { type ChatMessage, type ChatPart, unsupported } from '../../../engine/plugin.ts';

export interface RenderedPrompt {
  readonly prompt: string;
  /** The sequence at which the answer must end, where it is a conversation. */
  readonly stop: string | null;
}

const speakers = { system: 'System', user: 'User', assistant: 'Assistant' } as const;

export function renderPrompt(messages: readonly ChatMessage[]): RenderedPrompt {
  const [first] = messages;
  if (messages.length === 1 && first?.role === 'user') return { prompt: textOf(first, 0), stop: null };
  const paragraphs = messages.map((message, index) => {
    const text = textOf(message, index);
    return `${speakerOf(message, index)}:${text === '' ? '' : ` ${text}`}`;
  });
  if (messages.at(-1)?.role !== 'assistant') paragraphs.push('Assistant:');
  return { prompt: paragraphs.join('\n\n'), stop: '\n\nUser:' };
}

function speakerOf({ role }: ChatMessage, index: number): string {
  if (role === 'tool') throw notText(`messages[${index}].role`);
  return speakers[role];
}

const notText = (place: string) =>
  unsupported(place, 'is not supported by this model: its vendor completes plain text.');

function textOf({ parts }: ChatMessage, index: number): string {
  return parts.map((part) => partText(part, index)).join('');
}

/** Reasoning of earlier turns is left out, as chat vendors do. */
function partText(part: ChatPart, index: number): string {
  if (part.type === 'text' || part.type === 'refusal') return part.text;
  if (part.type === 'reasoning') return '';
  throw notText(`messages[${index}].${part.type === 'tool-call' ? 'tool_calls' : 'content'}`);
}
