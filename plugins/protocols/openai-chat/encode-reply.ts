/** The fold of events: a whole reply (spec 2.9). */
import {
  type ChatCall,
  type ChatEvent,
  type FinishReason,
  type JsonObject,
  present,
  replyHead,
  type TokenUsage,
  writeFinish,
  writeOpenAiUsage,
} from '../../../engine/plugin.ts';
import { encodeImage, encodeSignature } from './encode-extension.ts';

interface FoldedCall {
  readonly id: string;
  readonly name: string;
  readonly signature: string | undefined;
  arguments: string;
}

interface FoldedChoice {
  text: string;
  reasoning: string;
  refusal: string;
  reason: FinishReason;
  readonly calls: Map<number, FoldedCall>;
  readonly images: JsonObject[];
}

type StartEvent = Extract<ChatEvent, { type: 'start' }>;

class Fold {
  start: StartEvent | null = null;
  usage: TokenUsage | null = null;
  readonly choices = new Map<number, FoldedChoice>();

  take(event: ChatEvent): void {
    if (event.type === 'error') throw event.error;
    if (event.type === 'start') this.start ??= event;
    else if (event.type === 'usage') this.usage = event.usage;
    else takeInto(this.at(event.choice), event);
  }

  at(index: number): FoldedChoice {
    const known = this.choices.get(index);
    if (known !== undefined) return known;
    const fresh: FoldedChoice = { text: '', reasoning: '', refusal: '', reason: 'stop', calls: new Map(), images: [] };
    this.choices.set(index, fresh);
    return fresh;
  }
}

type ChoiceEvent = Exclude<ChatEvent, { type: 'error' | 'start' | 'usage' }>;

function takeInto(choice: FoldedChoice, event: ChoiceEvent): void {
  switch (event.type) {
    case 'text':
    case 'reasoning':
    case 'refusal':
      choice[event.type] += event.text;
      break;
    case 'image':
      choice.images.push(encodeImage(event));
      break;
    case 'tool-call':
      choice.calls.set(event.index, { id: event.id, name: event.name, signature: event.signature, arguments: '' });
      break;
    case 'tool-arguments': {
      const call = choice.calls.get(event.index);
      if (call !== undefined) call.arguments += event.text;
      break;
    }
    case 'finish':
      choice.reason = event.reason;
  }
}

export function encodeReply(events: readonly ChatEvent[], call: ChatCall): JsonObject {
  const fold = new Fold();
  for (const event of events) fold.take(event);
  if (fold.choices.size === 0) fold.at(0);
  const { id, created, model } = replyHead(fold.start, call, 'chatcmpl-');
  const choices = [...fold.choices].sort(([a], [b]) => a - b).map(([index, choice]) => encodeChoice(index, choice));
  const usage = fold.usage === null ? {} : { usage: writeOpenAiUsage(fold.usage) };
  return { id, object: 'chat.completion', created, model, choices, ...usage };
}

function encodeChoice(index: number, { text, reasoning, refusal, reason, calls, images }: FoldedChoice): JsonObject {
  const isSilent = text === '' && (calls.size > 0 || refusal !== '');
  const message = {
    role: 'assistant',
    content: isSilent ? null : text,
    refusal: refusal || null,
    ...present({ reasoning_content: reasoning || null, images, tool_calls: [...calls.values()].map(encodeCall) }),
  };
  return { index, message, logprobs: null, finish_reason: writeFinish(reason) };
}

function encodeCall({ id, name, signature, arguments: text }: FoldedCall): JsonObject {
  return { id, type: 'function', function: { name, arguments: text }, ...encodeSignature(signature) };
}
