/** A vendor's whole reply as events. Throws `upstream_invalid_response` where it is none. */
import {
  type ChatEvent,
  isObject,
  type JsonObject,
  type JsonValue,
  madeId,
  signedBy,
  unusable,
} from '../../../engine/plugin.ts';
import { protocolName } from './fields.ts';
import { redactedSignature } from './signatures.ts';
import { finishEvents } from './stop-reasons.ts';
import { readUsage } from './usage.ts';

export function decodeReply(body: JsonValue): ChatEvent[] {
  if (!isObject(body) || !Array.isArray(body.content)) throw unusable('the answer has no content');
  let calls = 0;
  const said = body.content.flatMap((block) => (isObject(block) ? blockEvents(block, () => calls++) : []));
  const usage = readUsage(body.usage);
  return [
    startOf(body),
    ...said,
    ...(usage === null ? [] : [{ type: 'usage', usage } as const]),
    ...finishEvents(body),
  ];
}

export function startOf({ id, model }: JsonObject): ChatEvent {
  return { type: 'start', id: wordOf(id), model: wordOf(model), created: 0 };
}

export const wordOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');

/** Blocks around tools that ran at the vendor are passed over. */
function blockEvents(block: JsonObject, nextCall: () => number): ChatEvent[] {
  switch (block.type) {
    case 'text':
      return block.text === '' ? [] : [{ type: 'text', choice: 0, text: wordOf(block.text) }];
    case 'thinking':
      return thoughtEvents(wordOf(block.thinking), wordOf(block.signature));
    case 'redacted_thinking':
      return [{ type: 'reasoning', choice: 0, text: '', signature: redactedSignature(wordOf(block.data)) }];
    case 'tool_use': {
      const index = nextCall();
      const text = JSON.stringify(block.input ?? {});
      return [callEvent(index, block), { type: 'tool-arguments', choice: 0, index, text }];
    }
    default:
      return [];
  }
}

function thoughtEvents(text: string, signature: string): ChatEvent[] {
  if (signature !== '') return [{ type: 'reasoning', choice: 0, text, signature: signedBy(protocolName, signature) }];
  return text === '' ? [] : [{ type: 'reasoning', choice: 0, text }];
}

export function callEvent(index: number, { id, name }: JsonObject): ChatEvent {
  const given = wordOf(id) || madeId('toolu_');
  return { type: 'tool-call', choice: 0, index, id: given, name: wordOf(name) };
}
