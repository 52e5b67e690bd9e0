/** The fold of events: a whole answer. */
import type { ChatCall, ChatEvent, FinishReason, JsonObject, TokenUsage } from '../../../engine/plugin.ts';
import { contentOf, encodeSaid, finishWord, headOf, OpenCalls, usageOf } from './encode-answer.ts';

interface FoldedChoice {
  readonly parts: JsonObject[];
  readonly calls: OpenCalls;
  reason: FinishReason;
}

type ChoiceEvent = Exclude<ChatEvent, { type: 'error' | 'start' | 'usage' }>;

export function encodeReply(events: readonly ChatEvent[], call: ChatCall): JsonObject {
  const choices = new Map<number, FoldedChoice>();
  const at = (index: number): FoldedChoice => {
    const choice = choices.get(index) ?? { parts: [], calls: new OpenCalls(), reason: 'stop' };
    choices.set(index, choice);
    return choice;
  };
  let start: Extract<ChatEvent, { type: 'start' }> | null = null;
  let usage: TokenUsage | null = null;
  for (const event of events) {
    if (event.type === 'error') throw event.error;
    if (event.type === 'start') start ??= event;
    else if (event.type === 'usage') usage = event.usage;
    else takeInto(at(event.choice), event);
  }
  if (choices.size === 0) at(0);
  const candidates = [...choices].sort(([a], [b]) => a - b).map(([index, choice]) => encodeChoice(index, choice));
  return { candidates, ...usageOf(usage), ...headOf(start, call) };
}

function takeInto(choice: FoldedChoice, event: ChoiceEvent): void {
  if (event.type === 'finish') choice.reason = event.reason;
  else if (event.type === 'tool-call' || event.type === 'tool-arguments') choice.calls.take(event);
  else append(choice.parts, encodeSaid(event));
}

/** Pieces of a text are one part, pieces of a thought another, which its signature ends. */
function append(parts: JsonObject[], part: JsonObject): void {
  const last = parts.at(-1);
  const joins =
    typeof part.text === 'string' &&
    typeof last?.text === 'string' &&
    part.thought === last.thought &&
    last.thoughtSignature === undefined;
  if (joins) parts[parts.length - 1] = { ...last, ...part, text: `${last.text as string}${part.text as string}` };
  else parts.push(part);
}

function encodeChoice(index: number, { parts, calls, reason }: FoldedChoice): JsonObject {
  const { parts: called, broken } = calls.encode();
  const all = [...parts, ...called];
  // Chats of Google's SDK forget a turn without parts.
  const content = contentOf(all.length === 0 ? [{ text: '' }] : all);
  return { content, finishReason: finishWord(reason, broken), index };
}
