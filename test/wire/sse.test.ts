import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameSplitter, SseReader } from '../../engine/wire/sse.ts';

/** Cuts `bytes` at the given places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...sorted].map((from, index) => bytes.subarray(from, sorted[index] ?? bytes.length));
}

const lineEnd = fc.constantFrom('\n', '\r\n');
const payload = fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => text.replace(/[\r\n]/g, ' '));
const frame = fc.record({
  event: fc.option(fc.constantFrom('message', 'error')),
  data: fc.array(payload, { minLength: 1, maxLength: 3 }),
  comment: fc.boolean(),
});

const stream = fc.tuple(lineEnd, fc.array(frame, { maxLength: 6 })).map(([end, frames]) => ({
  frames: frames.map((one) => ({ event: one.event ?? null, data: one.data.join('\n') })),
  bytes: Buffer.from(
    frames
      .map((one) =>
        [
          ...(one.comment ? [': ping'] : []),
          ...(one.event ? [`event: ${one.event}`] : []),
          ...one.data.map((line) => `data: ${line}`),
          '',
          '',
        ].join(end),
      )
      .join(''),
  ),
}));

describe('the SSE reader', () => {
  it('6.2 passes over a byte order mark before the stream', () => {
    const reader = new SseReader();
    expect(reader.push(Buffer.from('\ufeffdata: first\n\ndata: \ufeffsecond\n\n'))).toEqual([
      { event: null, data: 'first' },
      { event: null, data: '\ufeffsecond' },
    ]);
  });

  it('6.2 gives the same events for any split of the bytes', () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(500)), ({ frames, bytes }, places) => {
        const reader = new SseReader();
        const seen = cut(bytes, places).flatMap((piece) => reader.push(piece));
        expect([...seen, ...reader.end()]).toEqual(frames);
      }),
    );
  });
  it('6.2 passes every byte on, in order, for any split', () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(500)), ({ bytes }, places) => {
        const splitter = new FrameSplitter();
        const out = cut(bytes, places).map((piece) => splitter.push(piece) ?? Buffer.alloc(0));
        expect(Buffer.concat([...out, splitter.rest() ?? Buffer.alloc(0)])).toEqual(bytes);
      }),
    );
  });
  it('6.2 keeps no complete frame back', () => {
    const splitter = new FrameSplitter();
    expect(splitter.push(Buffer.from('data: 1\n\ndata: 2\n\nda'))?.toString()).toBe('data: 1\n\ndata: 2\n\n');
    expect(splitter.push(Buffer.from('ta: 3\n'))).toBeNull();
    expect(splitter.push(Buffer.from('\n'))?.toString()).toBe('data: 3\n\n');
    expect(splitter.rest()).toBeNull();
  });
  it('reads a frame that the vendor did not close', () => {
    const reader = new SseReader();
    expect(reader.push(Buffer.from('data: {"a":1}'))).toEqual([]);
    expect(reader.end()).toEqual([{ event: null, data: '{"a":1}' }]);
  });
  it('a mixed blank line ends a frame, and an empty chunk is none', () => {
    const splitter = new FrameSplitter();
    expect(splitter.push(Buffer.from('data: 1\n\r\n'))?.toString()).toBe('data: 1\n\r\n');
    expect(splitter.push(Buffer.alloc(0))).toBeNull();
  });
  it('a frame without end is given up, however small its pieces are', () => {
    const splitter = new FrameSplitter();
    const byte = Buffer.from('x');
    for (let count = 0; count < 200_000; count++) splitter.push(byte);
    expect(splitter.pendingBytes).toBe(200_000);
    const piece = Buffer.alloc(1024 * 1024, 'x');
    expect(() => {
      for (let megabytes = 0; megabytes < 70; megabytes++) splitter.push(piece);
    }).toThrow('too large');
  });
});
