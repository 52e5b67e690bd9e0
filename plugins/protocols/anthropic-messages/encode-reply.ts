/** The fold of events: a whole message. */
import type { ChatCall, ChatEvent, JsonObject, JsonValue } from '../../../engine/plugin.ts';
import { AnswerNotes, messageHead } from './answer.ts';
import { shownCallSignature, shownThought } from './signatures.ts';
import { writeUsage } from './usage.ts';

type Of<T extends ChatEvent['type']> = Extract<ChatEvent, { type: T }>;

type FoldedBlock =
  | { readonly type: 'text'; text: string }
  | { readonly type: 'thinking'; text: string; signature: string | null }
  | { readonly type: 'call'; readonly event: Of<'tool-call'>; input: string };

class Fold {
  start: Of<'start'> | null = null;
  readonly blocks: FoldedBlock[] = [];

  take(event: ChatEvent): void {
    switch (event.type) {
      case 'error':
        throw event.error;
      case 'start':
        this.start ??= event;
        break;
      case 'text':
      case 'refusal':
        this.say(event.text);
        break;
      case 'reasoning':
        this.think(event);
        break;
      case 'tool-call':
        this.blocks.push({ type: 'call', event, input: '' });
        break;
      case 'tool-arguments': {
        const call = this.blocks.find((one) => one.type === 'call' && one.event.index === event.index);
        if (call?.type === 'call') call.input += event.text;
      }
    }
  }

  private say(text: string): void {
    const last = this.blocks.at(-1);
    if (last?.type === 'text') last.text += text;
    else this.blocks.push({ type: 'text', text });
  }

  private think(event: Of<'reasoning'>): void {
    const { text } = event;
    const signature = event.signature ?? null;
    const last = this.blocks.at(-1);
    if (last?.type !== 'thinking' || last.signature !== null) this.blocks.push({ type: 'thinking', text, signature });
    else {
      last.text += text;
      last.signature = signature;
    }
  }
}

export function encodeReply(events: readonly ChatEvent[], call: ChatCall): JsonObject {
  const fold = new Fold();
  const notes = new AnswerNotes();
  for (const event of events) {
    if ('choice' in event && event.choice !== 0) continue;
    fold.take(event);
    notes.take(event);
  }
  return {
    ...messageHead(fold.start, call),
    content: fold.blocks.flatMap(encodeBlock),
    container: null,
    diagnostics: null,
    ...notes.end(),
    usage: { ...writeUsage(notes.counts(call)), ...unsaid },
  };
}

/** Clients of typed SDKs look for these. */
const unsaid = { cache_creation: null, service_tier: null, inference_geo: null, speed: null };

function encodeBlock(block: FoldedBlock): JsonObject[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: block.text, citations: null }];
    case 'thinking':
      return [
        block.signature === null
          ? { type: 'thinking', thinking: block.text, signature: '' }
          : shownThought(block.text, block.signature),
      ];
    case 'call': {
      const { id, name, signature } = block.event;
      const called = { type: 'tool_use', id, name, input: readInput(block.input), caller: { type: 'direct' } };
      if (signature === undefined) return [called];
      return [{ type: 'thinking', thinking: '', signature: shownCallSignature(signature) }, called];
    }
  }
}

/** A model that was cut off leaves half an object, which no client could read: it gets what came as text. */
function readInput(text: string): JsonValue {
  if (text.trim() === '') return {};
  try {
    const value = JSON.parse(text) as JsonValue;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { arguments: value };
  } catch {
    return { arguments: text };
  }
}
