/** Whatever the network makes of the bytes, the answer is the same; and it is what Node's own parser reads. */
import { request as nodeRequest } from 'node:http';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpConnections } from '../../engine/upstream/http1/connections.ts';
import { cut, parse } from './parse.ts';
import { type RawServer, send, startRawServer } from './raw-server.ts';

interface Framed {
  readonly bytes: string;
  readonly status: number;
  readonly body: string;
  /** The end of the connection is the end of the body. */
  readonly untilClose: boolean;
}

const latin1 = fc.string({
  unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
  maxLength: 300,
});
const name = fc.stringMatching(/^[A-Za-z][-A-Za-z0-9_!#$%&'*+.^`|~]{0,20}$/).map((text) => `X-${text}`);
const value = fc.stringMatching(/^[!-~\x80-\xff]([\t -~\x80-\xff]{0,30}[!-~\x80-\xff])?$/);
const blank = fc.constantFrom('', ' ', '\t', '  ');
const field = fc
  .tuple(name, blank, value, blank)
  .map(([key, before, text, behind]) => `${key}:${before}${text}${behind}\r\n`);
const fields = fc.array(field, { maxLength: 8 }).map((lines) => lines.join(''));
const interim = fc.constantFrom(
  '',
  'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n',
  'HTTP/1.1 102 Processing\r\n\r\n',
);
const status = fc.constantFrom(200, 201, 400, 404, 429, 500, 503);
const reason = fc.constantFrom(' OK', ' ', ' Something else');
const extension = fc.constantFrom('', ';a', ';a=b;c="d e"');

const chunks = fc.array(
  fc.tuple(
    latin1.filter((text) => text !== ''),
    extension,
    fc.boolean(),
  ),
  { maxLength: 6 },
);

const lengthFraming = latin1.map((body) => ({ field: `Content-Length: ${body.length}\r\n`, raw: body, body }));
const chunkFraming = fc.tuple(chunks, fields).map(([pieces, trailers]) => ({
  field: 'transfer-encoding: Chunked\r\n',
  raw: `${pieces
    .map(([text, more, upper]) => {
      const size = text.length.toString(16);
      return `${upper ? size.toUpperCase() : size}${more}\r\n${text}\r\n`;
    })
    .join('')}0\r\n${trailers}\r\n`,
  body: pieces.map(([text]) => text).join(''),
}));
const closeFraming = latin1.map((body) => ({ field: 'Connection: close\r\n', raw: body, body }));

const framed: fc.Arbitrary<Framed> = fc
  .tuple(fc.oneof(lengthFraming, chunkFraming, closeFraming), interim, status, reason, fields, fields)
  .map(([framing, early, code, why, before, behind]) => ({
    bytes: `${early}HTTP/1.1 ${code}${why}\r\n${before}${framing.field}${behind}\r\n${framing.raw}`,
    status: code,
    body: framing.body,
    untilClose: framing.field.startsWith('Connection'),
  }));

const places = fc.array(fc.nat({ max: 5_000 }), { maxLength: 12 });

/** Bytes of an answer, some of them changed. */
const mangled = fc
  .tuple(
    framed,
    fc.array(fc.tuple(fc.nat(), fc.constantFrom('\r', '\n', '\0', ' ', ':', ';', '0', 'f', '\x80', '')), {
      maxLength: 3,
    }),
  )
  .map(([{ bytes }, changes]) =>
    changes.reduce((text, [at, byte]) => {
      const place = at % (text.length + 1);
      return text.slice(0, place) + byte + text.slice(place + 1);
    }, bytes),
  );

describe('RFC 9112 an answer is the same in any pieces', () => {
  it('a good one', () => {
    fc.assert(
      fc.property(framed, places, (answer, cuts) => {
        const seen = parse(cut(answer.bytes, cuts), answer.untilClose);
        expect(seen).toMatchObject({ status: answer.status, body: answer.body, state: 'ended' });
        expect(seen).toEqual(parse(cut(answer.bytes, []), answer.untilClose));
      }),
      { numRuns: 1500 },
    );
  });

  it('a bad one', () => {
    fc.assert(
      fc.property(mangled, places, (bytes, cuts) => {
        const inOne = parse(cut(bytes, []), true);
        const inPieces = parse(cut(bytes, cuts), true);
        // What is behind the end is known only where it comes in the same read; a connection sees it in the next.
        expect({ ...inPieces, reusable: null }).toEqual({ ...inOne, reusable: null });
      }),
      { numRuns: 3000 },
    );
  });

  it('bytes of any kind never throw, and never end well without a head', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 5 }), (pieces) => {
        const seen = parse(
          pieces.map((piece) => Buffer.from(piece)),
          true,
        );
        expect(seen.state === 'ended').toBe(seen.status !== 0);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('an answer reads as it does with node:http', () => {
  let server: RawServer;
  let list: HttpConnections;
  let current: Framed;
  let cuts: readonly number[];
  beforeAll(async () => {
    server = await startRawServer((socket) => {
      for (const piece of cut(current.bytes, cuts)) socket.write(piece);
      if (current.untilClose) socket.end();
    });
    list = new HttpConnections({ origin: server.origin, connectTimeout: 5_000 });
  });
  afterAll(async () => {
    await list.close();
    await server.close();
  });

  const byNode = () =>
    new Promise<object>((resolve, reject) => {
      const sent = nodeRequest({ port: server.port, method: 'POST', agent: false }, (response) => {
        const read: Buffer[] = [];
        response.on('data', (chunk: Buffer) => read.push(chunk));
        response.on('end', () => {
          const pairs: string[] = [];
          for (let index = 0; index < response.rawHeaders.length; index += 2)
            pairs.push(`${response.rawHeaders[index]}: ${response.rawHeaders[index + 1]}`);
          resolve({ status: response.statusCode, body: Buffer.concat(read).toString('latin1'), pairs });
        });
      });
      sent.on('error', reject);
      sent.end('{}');
    });

  it('status, fields and body', async () => {
    await fc.assert(
      fc.asyncProperty(framed, places, async (answer, where) => {
        current = answer;
        cuts = where;
        const heard = await send(list).over;
        expect(heard.failure).toBe(null);
        const pairs = heard.headers
          .toString('latin1')
          .split('\r\n')
          .slice(0, -1)
          .map((line) => line.replace(/^([^:]+):[ \t]*(.*?)[ \t]*$/, '$1: $2'));
        expect({ status: heard.status, body: heard.text, pairs }).toEqual(await byNode());
      }),
      { numRuns: 150 },
    );
  });
});
