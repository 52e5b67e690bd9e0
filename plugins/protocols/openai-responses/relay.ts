/** Same protocol on both sides: bytes pass, the model's name is replaced, and the last event waits for the charge. */
import {
  type ChatRelay,
  FrameTap,
  isObject,
  type JsonObject,
  type JsonValue,
  type StreamNotes,
  saidTokens,
  withVendorModel,
} from '../../../engine/plugin.ts';
import { nativeInput } from './compaction.ts';
import { outputEvents } from './decode-output.ts';
import { responseAt } from './decode-reply.ts';
import { decodeError, encodeStreamError, eventError } from './errors.ts';
import { membersOf, textOf } from './fields.ts';
import { readUsage } from './usage.ts';

export const relay: ChatRelay = {
  /** Items that only this gateway understands are told in the vendor's words; all other bytes stay. */
  request(body, call, vendorModel, overrides) {
    const input = nativeInput(call.body.input);
    return withVendorModel(body, call.model, vendorModel, overrides, input === null ? null : { input });
  },
  reply(body) {
    const value = JSON.parse(body.toString('utf8')) as JsonValue;
    const error = decodeError(value);
    if (error !== null) return { usage: null, error, estimatedOutput: 0 };
    const { usage, output } = responseAt(value);
    const tokens = readUsage(usage);
    return {
      usage: tokens,
      error: null,
      estimatedOutput: tokens === null ? estimate(output) : 0,
      images: imagesIn(output),
    };
  },
  stream: () => tapOf(),
};

/** Four characters are about one token. */
function estimate(output: JsonValue | undefined): number {
  let characters = 0;
  for (const event of outputEvents(output)) if ('text' in event) characters += event.text.length;
  return Math.ceil(characters / 4);
}

const imagesIn = (output: JsonValue | undefined): number =>
  (Array.isArray(output) ? output : []).filter(
    (item) => isObject(item) && item.type === 'image_generation_call' && typeof item.result === 'string',
  ).length;

/**
 * What an event is stands at the beginning of its frame; vendors that leave `event:` out say it first in the data.
 * Further behind stands what clients wrote: their tools, schemas and metadata are told back.
 */
const eventType = /(?:^|[\r\n])(?:event: ?|data: ?\{\s*"type"\s*:\s*")([\w.]+)/;
const mayHoldError = /"error"\s*:\s*\{/;
const sequenceNumber = /"sequence_number"\s*:\s*(\d+)/;

function tapOf(): FrameTap {
  let last = '';
  let opening: JsonObject | null = null;
  const read = (text: string, notes: StreamNotes, parse: () => unknown): 'pass' | 'hold' => {
    const type = eventType.exec(text)?.[1] ?? typeIn(parse());
    if (type.endsWith('.delta')) notes.estimatedOutput += saidTokens(text);
    else if (type === 'response.image_generation_call.completed') notes.images++;
    else if (type === 'response.created') opening = responseOf(parse());
    else if (type === 'response.completed' || type === 'response.incomplete') return end(parse(), notes);
    else if (type === 'response.failed' || type === 'error') fail(parse(), type, notes);
    else if (mayHoldError.test(text) && isObject(objectOf(parse()).error)) fail(parse(), type, notes);
    // An error that takes this frame's place takes its number too.
    if (notes.error === null) last = text;
    return 'pass';
  };
  return new FrameTap(read, (error, requestId) => {
    const sequence = Number(sequenceNumber.exec(last)?.[1] ?? -1) + 1;
    return encodeStreamError(error, requestId, opening, sequence);
  });
}

const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

const typeIn = (event: unknown): string => textOf(objectOf(event).type);

const responseOf = (event: unknown): JsonObject | null =>
  isObject(event) && isObject(event.response) ? event.response : null;

function end(event: unknown, notes: StreamNotes): 'hold' | 'pass' {
  const response = responseOf(event);
  if (response === null) return 'pass';
  notes.usage = readUsage(response.usage) ?? notes.usage;
  notes.images = Math.max(notes.images, imagesIn(response.output));
  notes.complete = true;
  notes.finished = true;
  return 'hold';
}

function fail(value: unknown, type: string, notes: StreamNotes): void {
  const event = objectOf(value);
  notes.usage = readUsage(membersOf(event.response).usage) ?? notes.usage;
  notes.error = eventError({ ...event, type: typeof event.type === 'string' ? event.type : type });
}
