/** The fold of events: a whole reply (spec 2.9). */
import {
  type ChatCall,
  type ChatEvent,
  customToolInput,
  type FinishReason,
  type JsonObject,
  present,
  replyHead,
  shownSignature,
  type TokenUsage,
  writeFinish,
  writeOpenAiUsage,
} from '../../../engine/plugin.ts';
import { customToolNames } from './custom-tools.ts';
import { encodeImage, encodeSignature } from './encode-extension.ts';
import { protocolName } from './fields.ts';
import { shownDetail } from './reasoning-details.ts';

interface FoldedCall {
  readonly id: string;
  readonly name: string;
  readonly signature: string | undefined;
  arguments: string;
}

interface FoldedChoice {
  text: string;
  reasoning: string;
  /** Of the thought that is not signed yet. */
  thought: string;
  readonly details: JsonObject[];
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
    const fresh: FoldedChoice = {
      text: '',
      reasoning: '',
      thought: '',
      details: [],
      refusal: '',
      reason: 'stop',
      calls: new Map(),
      images: [],
    };
    this.choices.set(index, fresh);
    return fresh;
  }
}

type ChoiceEvent = Exclude<ChatEvent, { type: 'error' | 'start' | 'usage' }>;

function takeInto(choice: FoldedChoice, event: ChoiceEvent): void {
  switch (event.type) {
    case 'reasoning':
      takeThought(choice, event);
      break;
    case 'text':
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

function takeThought(choice: FoldedChoice, { text, signature }: Extract<ChoiceEvent, { type: 'reasoning' }>): void {
  choice.reasoning += text;
  choice.thought += text;
  if (signature === undefined) return;
  choice.details.push(shownDetail(choice.thought, signature));
  choice.thought = '';
}

export function encodeReply(events: readonly ChatEvent[], call: ChatCall): JsonObject {
  const fold = new Fold();
  for (const event of events) fold.take(event);
  if (fold.choices.size === 0) fold.at(0);
  const { id, created, model } = replyHead(fold.start, call, 'chatcmpl-');
  const custom = customToolNames(call);
  const sorted = [...fold.choices].sort(([a], [b]) => a - b);
  const choices = sorted.map(([index, choice]) => encodeChoice(index, choice, custom));
  const usage = fold.usage === null ? {} : { usage: writeOpenAiUsage(fold.usage) };
  return { id, object: 'chat.completion', created, model, choices, ...usage };
}

function encodeChoice(index: number, choice: FoldedChoice, custom: ReadonlySet<string>): JsonObject {
  const { text, reasoning, details, refusal, reason, calls, images } = choice;
  const isSilent = text === '' && (calls.size > 0 || refusal !== '');
  const message = {
    role: 'assistant',
    content: isSilent ? null : text,
    refusal: refusal || null,
    ...present({
      reasoning_content: reasoning || null,
      reasoning_details: details,
      images,
      tool_calls: [...calls.values()].map((call) => encodeCall(call, custom)),
    }),
  };
  return { index, message, logprobs: null, finish_reason: writeFinish(reason) };
}

function encodeCall({ id, name, signature, arguments: text }: FoldedCall, custom: ReadonlySet<string>): JsonObject {
  if (custom.has(name)) return { id, type: 'custom', custom: { name, input: customToolInput(text) } };
  return {
    id,
    type: 'function',
    function: { name, arguments: text },
    ...encodeSignature(signature && shownSignature(protocolName, signature)),
  };
}
