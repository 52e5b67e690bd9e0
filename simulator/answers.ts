import { randomBytes } from 'node:crypto';
import type { Answer, Frame } from './contract.ts';

const JSON_TYPE = 'application/json';
const EVENT_STREAM = 'text/event-stream; charset=utf-8';

/** Random per process, so that no prompt can contain it. */
const SLOT = `slot-${randomBytes(12).toString('hex')}-`;
const SLOT_PATTERN = new RegExp(`${SLOT}(\\d+)`);

/** Stands in a JSON value for the text of `images[index]`, which is spliced in without passing through a serializer. */
export function imageSlot(index: number): string {
  return `${SLOT}${index}`;
}

/** Serializes a value whose image slots are replaced by the images' Base64 bytes. */
export function jsonParts(value: unknown, images: readonly Buffer[] = []): (string | Buffer)[] {
  const text = JSON.stringify(value);
  if (images.length === 0) return [text];
  return text.split(SLOT_PATTERN).map((part, index) => (index % 2 === 1 ? images[Number(part)]! : part));
}

export function wholeAnswer(
  status: number,
  headers: Record<string, string>,
  parts: readonly (string | Buffer)[],
): Answer {
  const frames = parts.map((bytes): Frame => ({ kind: 'data', bytes }));
  return { status, headers, streamed: false, frames, interval: 0, latency: 0, ending: 'end' };
}

export function jsonAnswer(
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
  images: readonly Buffer[] = [],
): Answer {
  return wholeAnswer(status, { 'content-type': JSON_TYPE, ...headers }, jsonParts(value, images));
}

export function streamAnswer(
  frames: readonly Frame[],
  interval: number,
  headers: Record<string, string> = {},
  contentType = EVENT_STREAM,
): Answer {
  return {
    status: 200,
    headers: { 'content-type': contentType, 'cache-control': 'no-cache', ...headers },
    streamed: true,
    frames,
    interval,
    latency: 0,
    ending: 'end',
  };
}

export const dataFrame = (bytes: string | Buffer): Frame => ({ kind: 'data', bytes });

/** One SSE event around a value that may carry image slots. */
export function eventFrame(event: string | undefined, value: unknown, images: readonly Buffer[] = []): Frame {
  const name = event === undefined ? '' : `event: ${event}\n`;
  const parts = jsonParts(value, images);
  if (parts.length === 1) return dataFrame(`${name}data: ${parts[0]}\n\n`);
  const pieces = [`${name}data: `, ...parts, '\n\n'];
  return dataFrame(Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece))));
}

let counter = 0;

/** Ids that never repeat within a process: `chatcmpl-sim00000a`. */
export function nextId(prefix: string): string {
  counter += 1;
  return `${prefix}sim${counter.toString(36).padStart(6, '0')}`;
}

export const epochSeconds = (): number => Math.floor(Date.now() / 1000);
