/**
 * Events of an answer in this protocol's order, numbered from 0. A whole answer is the response that its stream ends
 * with: both are written by the same steps.
 */
import {
  type ChatCall,
  type ChatEvent,
  type FinishReason,
  type JsonObject,
  type StreamEncoder,
  shownSignature,
  type TokenUsage,
} from '../../../engine/plugin.ts';
import { sealCallSignature } from './compaction.ts';
import type { StartEvent } from './decode-output.ts';
import { customToolNames } from './decode-tools.ts';
import { encodeStreamError, eventFrame } from './errors.ts';
import { protocolName } from './fields.ts';
import { OutputWriter } from './output-writer.ts';
import { now, openingResponse } from './response-object.ts';
import { writeUsage } from './usage.ts';

const incompleteReasons: Partial<Record<FinishReason, string>> = {
  length: 'max_output_tokens',
  'content-filter': 'content_filter',
};

class ResponseWriter {
  private readonly call: ChatCall;
  private readonly custom: ReadonlySet<string>;
  private readonly writer: OutputWriter;
  private sequence = 0;
  private start: StartEvent | null = null;
  private opening: JsonObject | null = null;
  private reason: FinishReason = 'stop';
  private usage: TokenUsage | null = null;

  constructor(call: ChatCall) {
    this.call = call;
    this.custom = customToolNames(call.body);
    this.writer = new OutputWriter((type, members) => this.tell(type, members));
  }

  /** Nothing is written before the first word: a vendor that fails until then can still be replaced by another. */
  take(event: ChatEvent): string {
    if (event.type === 'start') {
      this.start ??= event;
      return '';
    }
    if (event.type === 'usage') {
      this.usage = event.usage;
      return '';
    }
    // The protocol has one answer only.
    if (event.type === 'error' || event.choice > 0) return '';
    return this.open() + this.write(event);
  }

  end(): string {
    const opened = this.open();
    const response = this.response();
    return opened + this.tell(`response.${String(response.status)}`, { response });
  }

  /** As it is at its end. */
  response(): JsonObject {
    const reason = incompleteReasons[this.reason];
    return {
      ...this.begun(),
      status: reason === undefined ? 'completed' : 'incomplete',
      completed_at: reason === undefined ? now() : null,
      incomplete_details: reason === undefined ? null : { reason },
      output: this.writer.output,
      usage: writeUsage(this.usage),
    };
  }

  /** As it is when it broke; null before it was told of. */
  broken(): JsonObject | null {
    return this.opening === null ? null : { ...this.opening, output: this.writer.output };
  }

  get told(): number {
    return this.sequence;
  }

  private begun(): JsonObject {
    this.opening ??= openingResponse(this.start, this.call);
    return this.opening;
  }

  private open(): string {
    if (this.sequence > 0) return '';
    const response = this.begun();
    return this.tell('response.created', { response }) + this.tell('response.in_progress', { response });
  }

  private tell(type: string, members: JsonObject): string {
    return eventFrame({ type, sequence_number: this.sequence++, ...members });
  }

  private write(event: Exclude<ChatEvent, { type: 'start' | 'usage' | 'error' }>): string {
    const { writer } = this;
    switch (event.type) {
      case 'text':
      case 'refusal':
        return writer.say(event.type, event.text);
      case 'reasoning': {
        const thought = event.text === '' ? '' : writer.think(event.text);
        return (
          thought + (event.signature === undefined ? '' : writer.sign(shownSignature(protocolName, event.signature)))
        );
      }
      case 'tool-call': {
        const { id, name, signature } = event;
        const signed = signature === undefined ? '' : writer.sign(sealCallSignature(id, signature));
        return signed + writer.call(event.index, id, name, this.custom.has(name));
      }
      case 'tool-arguments':
        return writer.argue(event.index, event.text);
      case 'image':
        return writer.draw(event.mediaType, event.data);
      case 'finish':
        this.reason = event.reason;
        return writer.end(event.reason);
    }
  }
}

export function encodeStream(call: ChatCall): StreamEncoder {
  const writer = new ResponseWriter(call);
  return {
    encode: (event) => writer.take(event),
    end: () => writer.end(),
    encodeError: (error, requestId) => encodeStreamError(error, requestId, writer.broken(), writer.told),
  };
}

export function encodeReply(events: readonly ChatEvent[], call: ChatCall): JsonObject {
  const writer = new ResponseWriter(call);
  for (const event of events) {
    if (event.type === 'error') throw event.error;
    writer.take(event);
  }
  return writer.response();
}
