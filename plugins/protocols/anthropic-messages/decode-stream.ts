/** A vendor's stream as events. Kinds of events, blocks and deltas that nobody here knows are passed over. */
import {
  type ChatEvent,
  eventObject,
  isObject,
  type JsonObject,
  type JsonValue,
  reportedError,
  type SseFrame,
  signedBy,
} from '../../../engine/plugin.ts';
import { callEvent, startOf, wordOf } from './decode-reply.ts';
import { decodeError } from './errors.ts';
import { protocolName } from './fields.ts';
import { redactedSignature } from './signatures.ts';
import { finishEvents } from './stop-reasons.ts';
import { laterUsage, readUsage } from './usage.ts';

/** Throws `upstream_invalid_response` for a frame that is no JSON object. */
export function decodeStream(): (frame: SseFrame) => ChatEvent[] {
  const reader = new MessageReader();
  return (frame) => reader.read(eventObject(frame.data));
}

interface OpenCall {
  readonly index: number;
  /** What is said at its end where no piece of it came. */
  readonly whole: string;
  begun: boolean;
}

class MessageReader {
  private counted: JsonObject = {};
  private calls = 0;
  /** By the index of their blocks. */
  private readonly openCalls = new Map<number, OpenCall>();
  private readonly signatures = new Map<number, string>();

  read(event: JsonObject): ChatEvent[] {
    const failure = decodeError(event);
    if (failure !== null) return [{ type: 'error', error: reportedError(failure) }];
    const place = typeof event.index === 'number' ? event.index : 0;
    switch (event.type) {
      case 'message_start':
        return isObject(event.message) ? this.begin(event.message) : [];
      case 'content_block_start':
        return isObject(event.content_block) ? this.open(place, event.content_block) : [];
      case 'content_block_delta':
        return isObject(event.delta) ? this.say(place, event.delta) : [];
      case 'content_block_stop':
        return this.close(place);
      case 'message_delta':
        return this.finish(event);
      default:
        return [];
    }
  }

  private begin(message: JsonObject): ChatEvent[] {
    this.counted = laterUsage({}, message.usage);
    return [startOf(message)];
  }

  private open(place: number, block: JsonObject): ChatEvent[] {
    switch (block.type) {
      case 'text':
        return textEvents('text', block.text);
      case 'thinking':
        this.signatures.set(place, wordOf(block.signature));
        return textEvents('reasoning', block.thinking);
      case 'redacted_thinking':
        return [{ type: 'reasoning', choice: 0, text: '', signature: redactedSignature(wordOf(block.data)) }];
      case 'tool_use': {
        const index = this.calls++;
        this.openCalls.set(place, { index, whole: JSON.stringify(block.input ?? {}), begun: false });
        return [callEvent(index, block)];
      }
      default:
        return [];
    }
  }

  private say(place: number, delta: JsonObject): ChatEvent[] {
    switch (delta.type) {
      case 'text_delta':
        return textEvents('text', delta.text);
      case 'thinking_delta':
        return textEvents('reasoning', delta.thinking);
      case 'signature_delta':
        this.signatures.set(place, wordOf(delta.signature));
        return [];
      case 'input_json_delta':
        return this.callSays(place, wordOf(delta.partial_json));
      default:
        return [];
    }
  }

  private callSays(place: number, text: string): ChatEvent[] {
    const call = this.openCalls.get(place);
    if (call === undefined || text === '') return [];
    call.begun = true;
    return [{ type: 'tool-arguments', choice: 0, index: call.index, text }];
  }

  private close(place: number): ChatEvent[] {
    const call = this.openCalls.get(place);
    const signature = this.signatures.get(place) ?? '';
    this.openCalls.delete(place);
    this.signatures.delete(place);
    if (call?.begun === false) return [{ type: 'tool-arguments', choice: 0, index: call.index, text: call.whole }];
    if (signature === '') return [];
    return [{ type: 'reasoning', choice: 0, text: '', signature: signedBy(protocolName, signature) }];
  }

  private finish(event: JsonObject): ChatEvent[] {
    this.counted = laterUsage(this.counted, event.usage);
    const usage = isObject(event.usage) ? readUsage(this.counted) : null;
    const ended = isObject(event.delta) && typeof event.delta.stop_reason === 'string' ? event.delta : null;
    return [
      ...(usage === null ? [] : [{ type: 'usage', usage } as const]),
      ...(ended === null ? [] : finishEvents(ended)),
    ];
  }
}

function textEvents(type: 'text' | 'reasoning', value: JsonValue | undefined): ChatEvent[] {
  return typeof value === 'string' && value !== '' ? [{ type, choice: 0, text: value }] : [];
}
