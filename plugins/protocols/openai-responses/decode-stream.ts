/** A vendor's stream as events. Each item is read from its pieces; its end adds what only stands there. */
import {
  type ChatEvent,
  eventObject,
  isObject,
  type JsonObject,
  reportedError,
  type SseFrame,
} from '../../../engine/plugin.ts';
import { thoughtText } from './decode-items.ts';
import { callEvent, contentEvents, drawnEvents, endEvents, signatureEvents, startOf } from './decode-output.ts';
import { eventError } from './errors.ts';
import { membersOf, textOf } from './fields.ts';

/** What was seen of one output item. */
interface Seen {
  /** Its place among the neutral calls, of a call. */
  readonly call: number | null;
  /** Something of it came in pieces. */
  spoke: boolean;
}

export function decodeStream(): (frame: SseFrame) => ChatEvent[] {
  const reader = new StreamReader();
  return (frame) => (frame.data === '[DONE]' ? [] : reader.read(parseEvent(frame)));
}

class StreamReader {
  private started = false;
  private calls = 0;
  private readonly items = new Map<number, Seen>();

  read(event: JsonObject): ChatEvent[] {
    const { type } = event;
    switch (type) {
      case 'response.created':
        return this.start(event);
      case 'response.output_item.added':
        return this.added(event);
      case 'response.output_text.delta':
        return this.said(event, (text) => ({ type: 'text', choice: 0, text }));
      case 'response.refusal.delta':
        return this.said(event, (text) => ({ type: 'refusal', choice: 0, text }));
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return this.said(event, (text) => ({ type: 'reasoning', choice: 0, text }));
      case 'response.reasoning_summary_part.added':
        // A further paragraph.
        return this.seen(event)?.spoke ? [{ type: 'reasoning', choice: 0, text: '\n\n' }] : [];
      case 'response.function_call_arguments.delta':
        return this.argued(event, textOf(event.delta));
      case 'response.custom_tool_call_input.delta':
        return this.typed(event);
      case 'response.output_item.done':
        return this.done(event);
      case 'response.completed':
      case 'response.incomplete':
        return [...this.start(event), ...endEvents(membersOf(event.response), this.calls > 0)];
      case 'response.failed':
      case 'error':
        return [...failedUsage(event), { type: 'error', error: reportedError(eventError(event)) }];
      default:
        return isObject(event.error) ? [{ type: 'error', error: reportedError(eventError(event)) }] : [];
    }
  }

  private start({ response }: JsonObject): ChatEvent[] {
    if (this.started) return [];
    this.started = true;
    return [startOf(membersOf(response))];
  }

  private seen({ output_index }: JsonObject): Seen | undefined {
    return this.items.get(Number(output_index));
  }

  private added({ output_index, item }: JsonObject): ChatEvent[] {
    const { type } = membersOf(item);
    const isCall = type === 'function_call' || type === 'custom_tool_call';
    const seen: Seen = { call: isCall ? this.calls++ : null, spoke: false };
    this.items.set(Number(output_index), seen);
    return seen.call === null ? [] : [callEvent(membersOf(item), seen.call)];
  }

  private said(event: JsonObject, make: (text: string) => ChatEvent): ChatEvent[] {
    const text = textOf(event.delta);
    const seen = this.seen(event);
    if (seen !== undefined) seen.spoke = true;
    return text === '' ? [] : [make(text)];
  }

  private argued(event: JsonObject, text: string): ChatEvent[] {
    const seen = this.seen(event);
    if (seen === undefined || seen.call === null || text === '') return [];
    seen.spoke = true;
    return [{ type: 'tool-arguments', choice: 0, index: seen.call, text }];
  }

  /** Plain text as the string of a JSON object that is closed at the end of the item. */
  private typed(event: JsonObject): ChatEvent[] {
    const opening = this.seen(event)?.spoke ? '' : '{"input":"';
    return this.argued(event, opening + JSON.stringify(textOf(event.delta)).slice(1, -1));
  }

  /** Vendors that send an item only whole are read here. */
  private done(event: JsonObject): ChatEvent[] {
    const item = membersOf(event.item);
    const events = this.seen(event) === undefined ? this.added(event) : [];
    const spoke = this.seen(event)!.spoke;
    switch (item.type) {
      case 'message':
        return spoke ? [] : contentEvents(item.content);
      case 'reasoning': {
        const text = spoke ? '' : thoughtText(item);
        return [...(text === '' ? [] : [{ type: 'reasoning', choice: 0, text } as const]), ...signatureEvents(item)];
      }
      case 'function_call':
        return spoke ? [] : [...events, ...this.argued(event, textOf(item.arguments))];
      case 'custom_tool_call':
        if (!spoke) events.push(...this.typed({ ...event, delta: item.input ?? '' }));
        return [...events, ...this.argued(event, '"}')];
      case 'image_generation_call':
        return drawnEvents(item);
      default:
        return [];
    }
  }
}

/** What a failed answer cost all the same. */
function failedUsage(event: JsonObject): ChatEvent[] {
  const [first] = endEvents(membersOf(event.response), false);
  return first?.type === 'usage' ? [first] : [];
}

function parseEvent({ event, data }: SseFrame): JsonObject {
  const value = eventObject(data);
  return typeof value.type === 'string' && value.type !== '' ? value : { ...value, type: event };
}
