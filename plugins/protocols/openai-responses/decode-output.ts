/** Output items of a vendor as events. */
import {
  type ChatEvent,
  customToolArguments,
  type FinishReason,
  isObject,
  type JsonObject,
  type JsonValue,
  signedBy,
} from '../../../engine/plugin.ts';
import { thoughtText } from './decode-items.ts';
import { membersOf, protocolName, textOf } from './fields.ts';
import { readUsage } from './usage.ts';

export type StartEvent = Extract<ChatEvent, { type: 'start' }>;

export function startOf({ id, model, created_at }: JsonObject): StartEvent {
  const created = typeof created_at === 'number' && created_at > 0 ? Math.floor(created_at) : 0;
  return { type: 'start', id: textOf(id), model: textOf(model), created };
}

/** The parts of a message's content. */
export function contentEvents(content: JsonValue | undefined): ChatEvent[] {
  return (Array.isArray(content) ? content : []).flatMap((part): ChatEvent[] => {
    if (!isObject(part)) return [];
    const refusal = textOf(part.refusal);
    if (refusal !== '') return [{ type: 'refusal', choice: 0, text: refusal }];
    const text = textOf(part.text);
    return text === '' ? [] : [{ type: 'text', choice: 0, text }];
  });
}

/** The end of a thought, with what its vendor must get back. */
export function signatureEvents({ encrypted_content }: JsonObject): ChatEvent[] {
  const content = textOf(encrypted_content);
  if (content === '') return [];
  return [{ type: 'reasoning', choice: 0, text: '', signature: signedBy(protocolName, content) }];
}

/** A picture that a tool of the vendor's drew. */
export function drawnEvents({ result, output_format }: JsonObject): ChatEvent[] {
  const data = textOf(result);
  return data === '' ? [] : [{ type: 'image', choice: 0, mediaType: `image/${textOf(output_format) || 'png'}`, data }];
}

export function callEvent(item: JsonObject, index: number): ChatEvent {
  return { type: 'tool-call', choice: 0, index, id: textOf(item.call_id), name: textOf(item.name) };
}

/** Items of a whole answer. Those of a vendor's own tools say nothing that others could repeat. */
export function outputEvents(output: JsonValue | undefined): ChatEvent[] {
  let calls = 0;
  return (Array.isArray(output) ? output : []).flatMap((item): ChatEvent[] => {
    if (!isObject(item)) return [];
    switch (item.type) {
      case 'message':
        return contentEvents(item.content);
      case 'reasoning': {
        const text = thoughtText(item);
        return [...(text === '' ? [] : [{ type: 'reasoning', choice: 0, text } as const]), ...signatureEvents(item)];
      }
      case 'function_call':
      case 'custom_tool_call': {
        const text = item.type === 'function_call' ? textOf(item.arguments) : customToolArguments(textOf(item.input));
        const index = calls++;
        return [callEvent(item, index), { type: 'tool-arguments', choice: 0, index, text }];
      }
      case 'image_generation_call':
        return drawnEvents(item);
      default:
        return [];
    }
  });
}

/** What ends an answer: why, and what it cost. */
export function endEvents(response: JsonObject, hasCalls: boolean): ChatEvent[] {
  const usage = readUsage(response.usage);
  return [
    ...(usage === null ? [] : [{ type: 'usage', usage } as const]),
    { type: 'finish', choice: 0, reason: reasonOf(response, hasCalls) },
  ];
}

function reasonOf({ incomplete_details }: JsonObject, hasCalls: boolean): FinishReason {
  const { reason } = membersOf(incomplete_details);
  if (reason === 'content_filter') return 'content-filter';
  if (typeof reason === 'string') return 'length';
  return hasCalls ? 'tool-calls' : 'stop';
}
