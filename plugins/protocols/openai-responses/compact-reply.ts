/** A compacted conversation: what the user said stays, one opaque item stands for the rest. */
import {
  type ChatCall,
  type ChatEvent,
  GatewayError,
  type JsonObject,
  type JsonValue,
  ownSignature,
  type StreamEncoder,
  signedBy,
  type TokenUsage,
} from '../../../engine/plugin.ts';
import { sealSummary } from './compaction.ts';
import { type StartEvent, startOf } from './decode-output.ts';
import { responseAt } from './decode-reply.ts';
import { encodeStreamError, eventFrame } from './errors.ts';
import { newId, now } from './response-object.ts';
import { itemsOf } from './state.ts';
import { readUsage, writeUsage } from './usage.ts';

export const compactName = 'openai-responses-compact';

/** A vendor's own compaction travels as a thought without words: only this protocol can show it. */
export function decodeReply(body: JsonValue): ChatEvent[] {
  const compacted = responseAt(body);
  const usage = readUsage(compacted.usage);
  const items = itemsOf({ input: compacted.output as JsonValue[] });
  return [
    startOf(compacted),
    ...items.flatMap(({ type, encrypted_content }): ChatEvent[] =>
      type === 'compaction' && typeof encrypted_content === 'string'
        ? [{ type: 'reasoning', choice: 0, text: '', signature: signedBy(compactName, encrypted_content) }]
        : [],
    ),
    ...(usage === null ? [] : [{ type: 'usage', usage } as const]),
    { type: 'finish', choice: 0, reason: 'stop' },
  ];
}

class Compaction {
  private readonly call: ChatCall;
  private start: StartEvent | null = null;
  private usage: TokenUsage | null = null;
  private summary = '';
  private own: string | null = null;
  readonly head = { id: newId('resp_'), object: 'response.compaction', created_at: now() };

  constructor(call: ChatCall) {
    this.call = call;
  }

  take(event: ChatEvent): void {
    if (event.type === 'error') throw event.error;
    if (event.type === 'start') this.start ??= event;
    else if (event.type === 'usage') this.usage = event.usage;
    else if (event.type === 'text') this.summary += event.text;
    else if (event.type === 'finish') this.requireSummary();
    else if (event.type === 'reasoning') this.own = ownSignature(compactName, event.signature) ?? this.own;
  }

  /** Where the vendor summed nothing up the conversation would get lost. */
  private requireSummary(): void {
    if (this.own === null && this.summary.trim() === '')
      throw new GatewayError('upstream_invalid_response', 'The model wrote no summary.');
  }

  whole(): JsonObject {
    const kept = itemsOf(this.call.body).filter(({ type, role }) => type === 'message' && role === 'user');
    const encrypted_content = this.own ?? sealSummary(this.summary);
    return {
      ...this.head,
      ...(this.start?.id.startsWith('resp_') ? { id: this.start.id } : {}),
      output: [
        ...kept.map((item) => ({ ...item, status: 'completed' })),
        { id: newId('cmp_'), type: 'compaction', encrypted_content },
      ],
      usage: writeUsage(this.usage),
    };
  }
}

export function encodeReply(events: readonly ChatEvent[], call: ChatCall): JsonObject {
  const compaction = new Compaction(call);
  for (const event of events) compaction.take(event);
  return compaction.whole();
}

/** Nothing of a summary can be shown before it is whole. */
export function encodeStream(call: ChatCall): StreamEncoder {
  const compaction = new Compaction(call);
  let sequence = 0;
  const tell = (type: string, members: JsonObject) => eventFrame({ type, sequence_number: sequence++, ...members });
  const open = (): string => {
    const response = { ...compaction.head, output: [], usage: null };
    return tell('response.created', { response }) + tell('response.in_progress', { response });
  };
  return {
    encode(event) {
      if (event.type === 'error') return '';
      compaction.take(event);
      return event.type === 'start' || event.type === 'usage' || sequence > 0 ? '' : open();
    },
    end() {
      const response = compaction.whole();
      const items = (response.output as JsonObject[]).map((item, output_index) => {
        const added = tell('response.output_item.added', { output_index, item: withoutContent(item) });
        const compacting =
          item.type === 'compaction' ? tell('response.compaction.compacting', { item_id: item.id!, output_index }) : '';
        return added + compacting + tell('response.output_item.done', { output_index, item });
      });
      return items.join('') + tell('response.completed', { response });
    },
    encodeError: (error, requestId) => encodeStreamError(error, requestId, null, sequence),
  };
}

const withoutContent = (item: JsonObject): JsonObject =>
  item.type === 'compaction' ? { ...item, encrypted_content: '' } : item;
