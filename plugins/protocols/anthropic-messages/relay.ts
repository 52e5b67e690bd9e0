/** The relay: the model's name replaced, bytes otherwise untouched, usage read from the first and the last events. */
import {
  type ChatRelay,
  type FrameReader,
  FrameTap,
  isObject,
  type JsonObject,
  type JsonValue,
  plainError,
  type StreamNotes,
  type VendorError,
  withVendorModel,
} from '../../../engine/plugin.ts';
import { decodeError, encodeStreamError } from './errors.ts';
import { answerLength } from './estimate.ts';
import { withoutForeignThoughts } from './foreign-thoughts.ts';
import { messageStop } from './stream-frames.ts';
import { laterUsage, readUsage } from './usage.ts';

export const relay: ChatRelay = {
  request: (body, call, vendorModel, overrides) =>
    withVendorModel(body, call.model, vendorModel, overrides, withoutForeignThoughts(body, call.body)),
  reply(body) {
    const value = JSON.parse(body.toString('utf8')) as JsonValue;
    const error = decodeError(value);
    if (error !== null) return { usage: null, error, estimatedOutput: 0 };
    if (!isObject(value) || !Array.isArray(value.content)) throw new Error('the answer has no content');
    const usage = readUsage(value.usage);
    return { usage, error: null, estimatedOutput: usage === null ? Math.ceil(answerLength(value.content) / 4) : 0 };
  },
  stream: () => new MessagesTap(),
};

class MessagesTap extends FrameTap {
  constructor() {
    super(frameReader(), encodeStreamError);
  }

  /** A vendor that forgot its last event is helped out. */
  override closing(): Buffer {
    const held = super.closing();
    return held.length === 0 ? Buffer.from(messageStop) : held;
  }
}

const eventName = /(?:^|[\r\n])event: ?([a-z_]+)/;
/** Gateways in front of vendors may leave the names of events out. */
const dataType = /(?:^|[\r\n])data: ?\{"type":\s?"([a-z_]+)"/;

/** Where a delta says something; signatures and citations say nothing. */
const saying = /"(?:text|thinking|partial_json)":\s?"/;
const closing = '"}}\n\n'.length;

/** Four bytes are about one token. */
function tokensOf(text: string): number {
  const key = saying.exec(text);
  return key === null ? 1 : Math.max(1, Math.ceil((text.length - key.index - key[0].length - closing) / 4));
}

function frameReader(): FrameReader {
  let isFirst = true;
  let counted: JsonObject = {};
  return (text, notes, parse) => {
    const wasFirst = isFirst;
    isFirst = false;
    const name = (eventName.exec(text) ?? dataType.exec(text))?.[1];
    switch (name) {
      case 'content_block_delta':
        notes.estimatedOutput += tokensOf(text);
        return 'pass';
      case 'message_start':
        counted = laterUsage(counted, startOf(parse()).usage);
        return 'pass';
      case 'message_delta':
        counted = readDelta(parse(), counted, notes);
        return 'pass';
      case 'message_stop':
        notes.complete = notes.finished = true;
        return 'hold';
      case 'error':
        notes.error = errorOf(parse());
        return 'pass';
    }
    if (wasFirst || name === undefined) notes.error = strayError(parse(), wasFirst);
    return 'pass';
  };
}

function startOf(data: unknown): JsonObject {
  return isObject(data) && isObject(data.message) ? data.message : {};
}

function readDelta(data: unknown, counted: JsonObject, notes: StreamNotes): JsonObject {
  if (!isObject(data)) return counted;
  if (isObject(data.delta) && typeof data.delta.stop_reason === 'string') notes.complete = true;
  if (!isObject(data.usage)) return counted;
  const usage = laterUsage(counted, data.usage);
  notes.usage = readUsage(usage);
  return usage;
}

const errorOf = (data: unknown): VendorError =>
  (isObject(data) ? decodeError(data) : null) ?? plainError('the stream reported an error');

/** An error without its event's name; and a first event that is no JSON is no answer either. */
function strayError(data: unknown, isFirst: boolean): VendorError | null {
  if (isObject(data)) return decodeError(data);
  return isFirst && data === undefined ? plainError('an event of the stream is not JSON') : null;
}
