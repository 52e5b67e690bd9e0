/** The reader of forms against every cut and thousands of mutations: it answers once, in time, and never throws. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readMultipart } from '../../engine/http/multipart.ts';
import type { NativeResponse } from '../../engine/http/reply.ts';
import { png } from './images-kit.ts';

const part = (headers: string, body: Buffer | string): Buffer =>
  Buffer.concat([Buffer.from(`--B\r\n${headers}\r\n\r\n`), Buffer.from(body), Buffer.from('\r\n')]);

const whole = Buffer.concat([
  part('Content-Disposition: form-data; name="model"\r\nContent-Type: text/plain; charset=utf-16', 'alpha'),
  part('Content-Disposition: form-data; name="image"; filename="a.png"\r\nContent-Type: image/png', png()),
  part('Content-Disposition: form-data; name="x"\r\nContent-Type: text/plain; charset=bogus', 'abc'),
  part(`Content-Disposition: form-data; name="image"; filename*=UTF-8''%e2%82%ac\r\n`, png(2)),
  Buffer.from('--B--\r\n'),
]);

/** The pieces as uWS would hand them over; `ok` or the error's code. */
function read(body: Buffer, pieceLength: number, contentType = 'multipart/form-data; boundary=B'): Promise<string> {
  return new Promise((resolve, reject) => {
    let answers = 0;
    let onData: ((chunk: ArrayBuffer, isLast: boolean) => void) | null = null;
    const native = {
      onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void) {
        onData = handler;
      },
    } as unknown as NativeResponse;
    readMultipart(native, { aborted: false, settled: false }, contentType, 1_000_000, 1000, (error) => {
      answers++;
      if (answers > 1) reject(new Error('answered twice'));
      else setImmediate(() => resolve(error === null ? 'ok' : error.code));
    });
    for (let at = 0; at <= body.length && onData !== null; at += pieceLength) {
      const piece = new Uint8Array(body.subarray(at, at + pieceLength));
      (onData as (chunk: ArrayBuffer, isLast: boolean) => void)(piece.buffer, at + pieceLength > body.length);
    }
  });
}

describe('4.3 a form', () => {
  it.each([1, 2, 7, 64, 100_000])('4.3 in pieces of %i bytes is the same', async (length) => {
    expect(await read(whole, length)).toBe('ok');
  });

  it('4.3 cut anywhere before its closing boundary is damaged, never shorter', async () => {
    const closing = whole.length - '--\r\n'.length;
    for (let length = 0; length < closing; length++)
      expect(`${length} ${await read(whole.subarray(0, length), 100)}`).toBe(`${length} invalid_multipart`);
  });

  it.each(['Content-Disposition: form-data', 'Content-Disposition: form-data; filename="a.png"', 'X-Other: x'])(
    '4.3 a part with only "%s" is damaged or passed over',
    async (headers) => {
      const body = Buffer.concat([part(`${headers}\r\nContent-Type: image/png`, png()), whole]);
      expect(['ok', 'invalid_multipart', 'invalid_utf8']).toContain(await read(body, 50));
    },
  );

  it('4.3 whatever is changed in it, there is one answer', async () => {
    const change = fc.record({
      at: fc.nat(whole.length - 1),
      kind: fc.constantFrom('byte', 'cut', 'copy', 'insert'),
      value: fc.nat(255),
      text: fc.constantFrom('\r\n--B', '\r\n\r\n', '--', '\0', ';', '"', '\\', '%ff', '=', 'name='),
    });
    const apply = (
      body: Buffer,
      { at, kind, value, text }: { at: number; kind: string; value: number; text: string },
    ) => {
      const before = body.subarray(0, at);
      if (kind === 'byte') return Buffer.concat([before, Buffer.from([value]), body.subarray(at + 1)]);
      if (kind === 'cut') return Buffer.concat([before, body.subarray(at + (value % 40))]);
      if (kind === 'copy') return Buffer.concat([before, body.subarray(value), body.subarray(at)]);
      return Buffer.concat([before, Buffer.from(text), body.subarray(at)]);
    };
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 300 }),
        async (changes, length) => {
          expect(['ok', 'invalid_multipart', 'invalid_utf8']).toContain(
            await read(changes.reduce(apply, whole), length),
          );
        },
      ),
      { numRuns: 2000 },
    );
  });
});
