/** Answers as no vendor should send them: each has one outcome, in one piece as in single bytes. */
import { describe, expect, it } from 'vitest';
import { cut, parse } from './parse.ts';

const ok = 'HTTP/1.1 200 OK\r\n';
const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`;
const bytewise = (text: string) => [...Buffer.from(text, 'latin1')].map((byte) => Buffer.of(byte));

/** The fault, wherever the bytes are cut. */
const refused: readonly (readonly [name: string, bytes: string, fault: RegExp])[] = [
  ['HTTP/2', 'HTTP/2 200 OK\r\n\r\n', /status line/],
  ['HTTP/1.2', 'HTTP/1.2 200 OK\r\n\r\n', /status line/],
  ['HTTP/0.9: no head at all', 'hello\r\n\r\n', /status line/],
  ['lower case', 'http/1.1 200 OK\r\n\r\n', /status line/],
  ['two blanks in the status line', 'HTTP/1.1  200 OK\r\n\r\n', /status line/],
  ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n', /status line/],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n', /status line/],
  ['a status over 599', 'HTTP/1.1 600 OK\r\n\r\n', /status line/],
  ['a status under 100', 'HTTP/1.1 099 OK\r\n\r\n', /status line/],
  ['an empty line first', '\r\nHTTP/1.1 200 OK\r\n\r\n', /status line/],
  ['a NUL in the status line', 'HTTP/1.1 200 O\0K\r\n\r\n', /bad byte/],
  ['another protocol', '\x15\x03\x01\0\x02\x02\x16', /bad byte/],
  ['a bare LF behind the status line', 'HTTP/1.1 200 OK\n\r\n', /bad byte/],
  ['a bare CR behind the status line', 'HTTP/1.1 200 OK\rA: b\r\n\r\n', /bare CR/],
  ['a bare LF behind a field', `${ok}A: b\n\r\n`, /bad byte/],
  ['a bare CR in a value', `${ok}A: b\rc\r\n\r\n`, /bare CR/],
  ['a bare CR at the end of the head', `${ok}A: b\r\n\rX`, /bare CR/],
  ['a bare LF at the end of the head', `${ok}A: b\r\n\n`, /bad byte/],
  ['a NUL in a value', `${ok}A: b\0c\r\n\r\n`, /bad byte/],
  ['a DEL in a value', `${ok}A: b\x7f\r\n\r\n`, /bad byte/],
  ['a folded line', `${ok}A: b\r\n c\r\n\r\n`, /bad byte/],
  ['a folded line with a tab', `${ok}A: b\r\n\tc\r\n\r\n`, /bad byte/],
  ['a blank before the colon', `${ok}Content-Length : 5\r\n\r\n`, /field name/],
  ['a field without a name', `${ok}: 5\r\n\r\n`, /bad byte/],
  ['a field without a colon', `${ok}Length\r\n\r\n`, /field name/],
  ['a bad byte in a name', `${ok}A(b: c\r\n\r\n`, /field name/],
  ['a name outside of ASCII', `${ok}\xc4: c\r\n\r\n`, /bad byte/],
  ['a head over 64 KB', `${ok}A: ${'x'.repeat(65_536)}\r\n\r\n`, /too large/],
  ['a name over 64 KB', `${ok}${'x'.repeat(65_600)}`, /too large/],
  ['more than 256 fields', `${ok}${'A: b\r\n'.repeat(256)}\r\n`, /too many/],
  ['interim heads without end', 'HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n'.repeat(200), /too many/],
  ['101 unasked', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n', /changed the protocol/],
  ['two different lengths', `${ok}Content-Length: 5\r\nContent-Length: 6\r\n\r\n`, /two Content-Lengths/],
  ['a list of lengths', `${ok}Content-Length: 5, 5\r\n\r\n`, /bad Content-Length/],
  ['a negative length', `${ok}Content-Length: -5\r\n\r\n`, /bad Content-Length/],
  ['a length with a sign', `${ok}Content-Length: +5\r\n\r\n`, /bad Content-Length/],
  ['an empty length', `${ok}Content-Length: \r\n\r\n`, /bad Content-Length/],
  ['a hexadecimal length', `${ok}Content-Length: 0x5\r\n\r\n`, /bad Content-Length/],
  ['a length with a fraction', `${ok}Content-Length: 5.0\r\n\r\n`, /bad Content-Length/],
  ['a length with blanks in it', `${ok}Content-Length: 5 5\r\n\r\n`, /bad Content-Length/],
  ['a length behind a no-break space', `${ok}Content-Length:\xa05\r\n\r\n`, /bad Content-Length/],
  ['a length beyond what a double holds', `${ok}Content-Length: 9007199254740993\r\n\r\n`, /bad Content-Length/],
  ['a length of 2^64 + 5', `${ok}Content-Length: 18446744073709551621\r\n\r\n`, /bad Content-Length/],
  ['a length and chunks', `${ok}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`, /and Transfer-Encoding/],
  ['chunks and a length', `${ok}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n`, /and Transfer-Encoding/],
  ['chunks of gzip', `${ok}Transfer-Encoding: gzip, chunked\r\n\r\n`, /not chunked/],
  ['identity', `${ok}Transfer-Encoding: identity\r\n\r\n`, /not chunked/],
  ['chunks twice', `${ok}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n`, /not chunked/],
  ['chunks within chunks', `${ok}Transfer-Encoding: chunked, chunked\r\n\r\n`, /not chunked/],
  ['an empty encoding', `${ok}Transfer-Encoding:\r\n\r\n`, /not chunked/],
  ['chunked with a vertical tab', `${ok}Transfer-Encoding: \x0bchunked\r\n\r\n`, /bad byte/],
  ['chunks in HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', /HTTP\/1.0/],
  ['a chunk without a size', `${chunked}\r\nhello`, /without a size/],
  ['a chunk of a negative size', `${chunked}-5\r\n`, /without a size/],
  ['a chunk of 0x5', `${chunked}0x5\r\n`, /bad size/],
  ['a blank before a size', `${chunked} 5\r\n`, /without a size/],
  ['a blank behind a size', `${chunked}5 \r\n`, /bad size/],
  ['a size that overflows', `${chunked}ffffffffffffffff1\r\n`, /too large/],
  ['a size of zeros', `${chunked}0000000000000\r\n\r\n`, /too large/],
  ['a bare LF behind a size', `${chunked}5\nhello\r\n`, /bad size/],
  ['a bare CR behind a size', `${chunked}5\rhello`, /bare CR/],
  ['a bare LF behind an extension', `${chunked}5;a\nhello\r\n`, /extension/],
  ['a NUL in an extension', `${chunked}5;\0\r\nhello\r\n`, /extension/],
  ['an extension without end', `${chunked}5;${'x'.repeat(4097)}`, /too long/],
  ['a chunk longer than its size', `${chunked}4\r\nhello\r\n0\r\n\r\n`, /longer than its size/],
  ['a chunk shorter than its size', `${chunked}6\r\nhello\r\n0\r\n\r\n`, /longer than its size|bare CR/],
  ['a bare LF behind a chunk', `${chunked}5\r\nhello\n0\r\n\r\n`, /longer than its size/],
  ['a bare CR behind a chunk', `${chunked}5\r\nhello\r0\r\n\r\n`, /bare CR/],
  ['a folded trailer', `${chunked}0\r\nA: b\r\n c\r\n\r\n`, /bad byte/],
  ['a trailer without a colon', `${chunked}0\r\nhello\r\n\r\n`, /field name/],
  ['trailers over 64 KB', `${chunked}0\r\nA: ${'x'.repeat(65_536)}\r\n\r\n`, /too large/],
  ['too many trailers', `${chunked}0\r\n${'A: b\r\n'.repeat(257)}\r\n`, /too many/],
];

/** Ends well; the connection may be used again or not. */
const read: readonly (readonly [name: string, bytes: string, status: number, body: string, reusable: boolean])[] = [
  ['a length', `${ok}Content-Length: 5\r\n\r\nhello`, 200, 'hello', true],
  ['a length with blanks around it', `${ok}Content-Length: \t 5 \t\r\n\r\nhello`, 200, 'hello', true],
  ['a length with zeros before it', `${ok}Content-Length: 005\r\n\r\nhello`, 200, 'hello', true],
  ['the same length twice', `${ok}Content-Length: 5\r\ncontent-length: 5\r\n\r\nhello`, 200, 'hello', true],
  ['a length of nothing', `${ok}Content-Length: 0\r\n\r\n`, 200, '', true],
  ['no reason', 'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n', 200, '', true],
  ['an empty reason', 'HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n', 200, '', true],
  ['a reason in Latin-1', 'HTTP/1.1 200 Gr\xfc\xdfe\r\nContent-Length: 0\r\n\r\n', 200, '', true],
  ['256 lines', `${ok}${'A: b\r\n'.repeat(254)}Content-Length: 0\r\n\r\n`, 200, '', true],
  [
    'a name that only looks like a length',
    `${ok}Content_Length: 7\r\nContent-Length: 5\r\n\r\nhello`,
    200,
    'hello',
    true,
  ],
  [
    'interim heads',
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 x\r\nLink: a\r\n\r\n${ok}Content-Length: 2\r\n\r\nhi`,
    200,
    'hi',
    true,
  ],
  [
    'an interim head with a length',
    `HTTP/1.1 103 x\r\nContent-Length: 9\r\n\r\n${ok}Content-Length: 2\r\n\r\nhi`,
    200,
    'hi',
    true,
  ],
  ['204', 'HTTP/1.1 204 No Content\r\n\r\n', 204, '', true],
  ['204 with a length', 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n', 204, '', false],
  ['204 with chunks', 'HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 204, '', false],
  ['304 with the length of what it did not send', 'HTTP/1.1 304 x\r\nContent-Length: 5\r\n\r\n', 304, '', true],
  ['chunks', `${chunked}5\r\nhello\r\n6;a=b\r\n world\r\n0\r\n\r\n`, 200, 'hello world', true],
  [
    'chunks in upper and lower case',
    `${ok}TRANSFER-ENCODING: Chunked\r\n\r\n0A\r\n0123456789\r\n0b\r\n0123456789a\r\n000\r\n\r\n`,
    200,
    '01234567890123456789a',
    true,
  ],
  ['trailers', `${chunked}1\r\nx\r\n0;a="b"\r\nContent-Length: 9\r\nA: b\r\n\r\n`, 200, 'x', true],
  ['the vendor closes', `${ok}Content-Length: 2\r\nConnection: close\r\n\r\nhi`, 200, 'hi', false],
  ['the vendor closes, in a list', `${ok}Content-Length: 2\r\nConnection: x-y, Close\r\n\r\nhi`, 200, 'hi', false],
  [
    'the vendor closes, said second',
    `${ok}Connection: keep-alive\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi`,
    200,
    'hi',
    false,
  ],
  ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi', 200, 'hi', false],
  [
    'HTTP/1.0 that would stay',
    'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi',
    200,
    'hi',
    false,
  ],
  ['until the end', `${ok}\r\nhello`, 200, 'hello', false],
  ['until the end, nothing', `${ok}\r\n`, 200, '', false],
  ['bytes behind the end', `${ok}Content-Length: 2\r\n\r\nhi!`, 200, 'hi', false],
  ['a second answer', `${ok}Content-Length: 2\r\n\r\nhi${ok}Content-Length: 2\r\n\r\nho`, 200, 'hi', false],
  ['bytes behind the last chunk', `${chunked}1\r\nx\r\n0\r\n\r\n\r\n`, 200, 'x', false],
];

const unfinished: readonly (readonly [name: string, bytes: string])[] = [
  ['nothing', ''],
  ['half a status line', 'HTTP/1.1 20'],
  ['half a head', `${ok}Content-Length: 5\r\n`],
  ['only an interim head', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['half a body', `${ok}Content-Length: 5\r\n\r\nhell`],
  ['half a chunk', `${chunked}5\r\nhell`],
  ['no last chunk', `${chunked}5\r\nhello\r\n`],
  ['no end of the trailers', `${chunked}5\r\nhello\r\n0\r\n`],
];

describe('RFC 9112 an answer that no two readers may read differently is refused', () => {
  it.each(refused)('%s', (_name, bytes, fault) => {
    expect(parse(cut(bytes, []), true).state).toMatch(fault);
    expect(parse(bytewise(bytes), true).state).toMatch(fault);
  });
});

describe('RFC 9112 6 an answer is read', () => {
  it.each(read)('%s', (_name, bytes, status, body, reusable) => {
    expect(parse(cut(bytes, []), true)).toMatchObject({ status, body, state: 'ended', reusable });
    // Where nothing comes in one read with it, what is behind the end is the connection's business.
    if (!/behind|second/.test(_name))
      expect(parse(bytewise(bytes), true)).toMatchObject({ status, body, state: 'ended' });
  });
});

describe('RFC 9112 an answer that the end of the connection cuts off is none', () => {
  it.each(unfinished)('%s', (_name, bytes) => {
    for (const pieces of [cut(bytes, []), bytewise(bytes)]) {
      expect(parse(pieces, false).state).toBe('open');
      expect(parse(pieces, true)).toMatchObject({ state: 'the vendor closed the connection', reusable: false });
    }
  });
});

describe('RFC 9112 9.3 how long a vendor keeps an idle connection', () => {
  it.each([
    ['timeout=5', 5],
    ['timeout=5, max=100', 5],
    ['max=100, Timeout="7"', 7],
    ['timeout=12345678901', -1],
    ['xtimeout=5', -1],
    ['timeout', -1],
  ])('Keep-Alive: %s', (value, keepAlive) => {
    expect(parse(cut(`${ok}Keep-Alive: ${value}\r\nContent-Length: 0\r\n\r\n`, []), false).keepAlive).toBe(keepAlive);
  });
});
