/** Events as a stream of messages: the head with the first thing said, blocks, and at the end what it cost. */
import { type ChatCall, type ChatEvent, estimateTokens, type StreamEncoder } from '../../../engine/plugin.ts';
import { AnswerNotes, messageHead } from './answer.ts';
import { BlockQueue } from './block-queue.ts';
import { encodeStreamError } from './errors.ts';
import { shownCallSignature, shownThought } from './signatures.ts';
import { frame, messageStop, ping } from './stream-frames.ts';
import { writeUsage } from './usage.ts';

type Of<T extends ChatEvent['type']> = Extract<ChatEvent, { type: T }>;

export function encodeStream(call: ChatCall): StreamEncoder {
  const writer = new MessageWriter(call);
  return { encode: (event) => writer.write(event), end: () => writer.end(), encodeError: encodeStreamError };
}

class MessageWriter {
  private readonly call: ChatCall;
  private readonly notes = new AnswerNotes();
  private readonly blocks = new BlockQueue();
  private start: Of<'start'> | null = null;
  private isBegun = false;
  /** Of the thought that is not signed yet. */
  private thought = '';

  constructor(call: ChatCall) {
    this.call = call;
  }

  write(event: ChatEvent): string {
    if ('choice' in event && event.choice !== 0) return '';
    this.notes.take(event);
    switch (event.type) {
      case 'start':
        // Nothing is written yet: a vendor that fails right after it can still be replaced by another.
        this.start ??= event;
        return '';
      case 'usage':
      case 'error':
      case 'image':
        return '';
      case 'finish':
        // The reason waits for the usage, which other vendors send behind it.
        return this.head() + this.blocks.end();
      default:
        return this.head() + this.block(event);
    }
  }

  /** The last two events: what the answer cost is known by now. */
  end(): string {
    const usage = writeUsage(this.notes.counts(this.call));
    const delta = { ...this.notes.end(), container: null };
    return this.head() + this.blocks.end() + frame('message_delta', { delta, usage }) + messageStop;
  }

  private head(): string {
    if (this.isBegun) return '';
    this.isBegun = true;
    const input = this.notes.usage?.input ?? estimateTokens(this.call.body);
    const usage = { input_tokens: input, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 };
    const message = {
      ...messageHead(this.start, this.call),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      container: null,
      diagnostics: null,
      usage,
    };
    return frame('message_start', { message }) + ping;
  }

  private block(event: Of<'text' | 'refusal' | 'reasoning' | 'tool-call' | 'tool-arguments'>): string {
    switch (event.type) {
      case 'text':
      case 'refusal':
        return event.text === '' ? '' : this.blocks.say('text', event.text);
      case 'reasoning':
        return this.think(event);
      case 'tool-call': {
        const signed = event.signature === undefined ? '' : this.blocks.whole(callThought(event.signature));
        return signed + this.blocks.call(event.index, event.id, event.name);
      }
      case 'tool-arguments':
        return event.text === '' ? '' : this.blocks.input(event.index, event.text);
    }
  }

  private think({ text, signature }: Of<'reasoning'>): string {
    const said = text === '' ? '' : this.blocks.say('thinking', text);
    this.thought += text;
    if (signature === undefined) return said;
    const shown = shownThought(this.thought, signature);
    this.thought = '';
    return said + (shown.type === 'redacted_thinking' ? this.blocks.whole(shown) : this.blocks.sign(shown.signature));
  }
}

const callThought = (signature: string) => ({
  type: 'thinking',
  thinking: '',
  signature: shownCallSignature(signature),
});
