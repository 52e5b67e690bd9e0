/** The fold of events: a whole `text_completion`. */
import {
  type ChatCall,
  type ChatEvent,
  type FinishReason,
  type JsonObject,
  replyHead,
  type TokenUsage,
  writeOpenAiUsage,
} from '../../../engine/plugin.ts';
import { shownFinish, shownText } from './shown.ts';

interface FoldedChoice {
  text: string;
  reason: FinishReason;
}

export function encodeReply(events: readonly ChatEvent[], call: ChatCall): JsonObject {
  let start: Extract<ChatEvent, { type: 'start' }> | null = null;
  let usage: TokenUsage | null = null;
  const choices = new Map<number, FoldedChoice>();
  for (const event of events) {
    if (event.type === 'error') throw event.error;
    if (event.type === 'start') start ??= event;
    else if (event.type === 'usage') usage = event.usage;
    else fold(choices, event.choice, event);
  }
  if (choices.size === 0) choices.set(0, { text: '', reason: 'stop' });
  const { id, created, model } = replyHead(start, call, 'cmpl-');
  const written = [...choices].sort(([a], [b]) => a - b).map(([index, choice]) => encodeChoice(index, choice));
  const counted = usage === null ? {} : { usage: writeOpenAiUsage(usage) };
  return { id, object: 'text_completion', created, model, choices: written, ...counted };
}

function fold(choices: Map<number, FoldedChoice>, index: number, event: ChatEvent): void {
  const choice = choices.get(index) ?? { text: '', reason: 'stop' };
  choices.set(index, choice);
  choice.text += shownText(event);
  if (event.type === 'finish') choice.reason = event.reason;
}

function encodeChoice(index: number, { text, reason }: FoldedChoice): JsonObject {
  return { text, index, logprobs: null, finish_reason: shownFinish(reason) };
}
