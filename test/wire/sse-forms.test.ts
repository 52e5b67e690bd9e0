/** Every form that the standard allows a stream of events (WHATWG HTML 9.2), whatever the pieces it comes in. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameSplitter, SseReader } from '../../engine/wire/sse.ts';

/** A line, and what it adds to its event. */
interface Line {
  readonly text: string;
  readonly data?: string;
  readonly event?: string;
}

const word = fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => text.replace(/[\r\n]/g, '_'));
/** One blank after the colon belongs to the colon. */
const unspaced = word.filter((text) => !text.startsWith(' '));
const line: fc.Arbitrary<Line> = fc.oneof(
  word.map((data) => ({ text: `data: ${data}`, data })),
  unspaced.map((data) => ({ text: `data:${data}`, data })),
  fc.constant({ text: 'data', data: '' }),
  fc.constantFrom('message', 'error', 'a b').map((event) => ({ text: `event: ${event}`, event })),
  word.map((text) => ({ text: `: ${text}` })),
  fc.constantFrom('id: 7', 'retry: 10', 'unknown: x', 'unknown', 'dataset: x', ' data: x').map((text) => ({ text })),
);

const lineEnds = fc.oneof(
  fc.constantFrom('\n', '\r\n', '\r').map((end) => () => end),
  // Both of the usual ones in one stream, as a proxy may leave it.
  fc
    .array(fc.boolean(), { minLength: 1, maxLength: 7 })
    .map((flags) => (at: number) => (flags[at % flags.length] ? '\n' : '\r\n')),
);

interface Stream {
  readonly bytes: Buffer;
  readonly events: { readonly event: string | null; readonly data: string }[];
  /** Where each frame is complete. */
  readonly ends: readonly number[];
}

const streams: fc.Arbitrary<Stream> = fc
  .record({ events: fc.array(fc.array(line, { minLength: 1, maxLength: 5 }), { maxLength: 5 }), endOf: lineEnds })
  .map(({ events, endOf }) => {
    let at = 0;
    const write = (text: string): string => text + endOf(at++);
    const frames = events.map((lines) => lines.map((one) => write(one.text)).join('') + write(''));
    let length = 0;
    const ends = frames.map((frame) => {
      length += Buffer.byteLength(frame);
      return length;
    });
    const heard = events.flatMap((lines) => {
      const data = lines.flatMap((one) => one.data ?? []);
      const event = lines.findLast((one) => one.event !== undefined)?.event ?? null;
      return data.length === 0 ? [] : [{ event, data: data.join('\n') }];
    });
    return { bytes: Buffer.from(frames.join('')), events: heard, ends };
  });

const pieces = (bytes: Buffer, places: readonly number[]): Buffer[] => {
  const sorted = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((one, other) => one - other);
  return [0, ...sorted].map((from, index) => bytes.subarray(from, sorted[index] ?? bytes.length));
};

const readIn = (parts: readonly Buffer[]) => {
  const reader = new SseReader();
  return [...parts.flatMap((part) => reader.push(part)), ...reader.end()];
};

describe('6.2 a stream of any allowed form', () => {
  it('6.2 is read as it was meant, whatever its pieces', () => {
    fc.assert(
      fc.property(streams, fc.array(fc.nat(400)), ({ bytes, events }, places) => {
        expect(readIn(pieces(bytes, places))).toEqual(events);
      }),
      { numRuns: 400 },
    );
  });

  it('6.2 is read as it was meant byte by byte', () => {
    fc.assert(
      fc.property(streams, ({ bytes, events }) => {
        expect(readIn(Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)))).toEqual(events);
      }),
    );
  });

  it('6.2 goes on with the very byte that completes a frame, wherever it was cut before', () => {
    fc.assert(
      fc.property(streams, fc.array(fc.nat(400)), ({ bytes, ends }, places) => {
        const splitter = new FrameSplitter();
        let fed = 0;
        let passed = 0;
        for (const part of pieces(bytes, [...places, ...ends])) {
          fed += part.length;
          passed += splitter.push(part)?.length ?? 0;
          expect(passed).toBe(Math.max(0, ...ends.filter((end) => end <= fed)));
        }
      }),
      { numRuns: 400 },
    );
  });

  it('6.2 leaves the splitter frame by frame, not a byte lost or changed', () => {
    fc.assert(
      fc.property(streams, fc.array(fc.nat(400)), ({ bytes }, places) => {
        const splitter = new FrameSplitter();
        const passed = pieces(bytes, places).flatMap((part) => splitter.push(part) ?? []);
        for (const frames of passed) expect(frames.toString()).toMatch(/(?:\n\r?\n|\r\r)$/);
        expect(Buffer.concat([...passed, splitter.rest() ?? Buffer.alloc(0)])).toEqual(bytes);
      }),
    );
  });
});
