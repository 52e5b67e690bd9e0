import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { chatHead, expectAtRest, hello, openRaw, sendRaw } from './http-raw.ts';

let stack: Stack;
let charged = 0;

beforeAll(async () => {
  stack = await startStack({
    edit: (documents) => {
      documents.gateway.body = { receiveTimeout: '400ms' };
      for (const route of documents.routes.routes) if (route.operation === 'chat') route.bodyLimit = '1mb';
    },
  });
});
afterAll(() => stack.close());
// Whatever was sent: nothing runs on, nothing is held, and the next request is served.
afterEach(() => expectAtRest(stack, charged));

const codeOf = (text: string) => /"code":"(\w+)"/.exec(text)?.[1];
const statusOf = (text: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
const messages = [{ role: 'user', content: 'Hello' }];

async function refused(
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
  path = '/chat/completions',
) {
  const response = await fetch(`${stack.base}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.key}`, 'content-type': 'application/json', ...headers },
    body,
  });
  const { error } = (await response.json()) as { error: { code: string; param: string | null; message: string } };
  return { status: response.status, ...error };
}

async function accepted(body: string, headers: Record<string, string> = {}) {
  const response = await stack.post('/chat/completions', body, headers);
  const text = await response.text();
  expect(response.status, text).toBe(200);
  charged++;
  return text;
}

describe('C hostile bodies', () => {
  it.each([
    ['nothing', ''],
    ['blanks', '   \n'],
    ['an open brace', '{'],
    ['a cut string', '{"model":"demo'],
    ['a cut list', `{"model":"demo-chat","messages":[{"role":"user"`],
    ['a trailing comma', '{"model":"demo-chat",}'],
    ['single quotes', "{'model':'demo-chat'}"],
    ['a comment', '{"model":"demo-chat"/* */}'],
    ['two values', '{}{}'],
    ['NaN', '{"model":NaN}'],
    ['a control character in a string', '{"model":"a\u0001b"}'],
    ['a lone escape', '{"model":"\\x"}'],
    ['a byte order mark', `\ufeff${hello}`],
    ['a NUL byte', `${hello}\0`],
    ['form data', 'model=demo-chat&messages=x'],
  ])('C bad JSON: %s', async (_name, body) => {
    const error = await refused(body);
    expect(error).toMatchObject({ status: 400, code: 'invalid_json' });
    expect(error.message).not.toContain('demo');
  });

  it.each(['null', '1', '"text"', 'true', '[]', '[{}]'])('C a body that is %s and no object', async (body) => {
    expect(await refused(body)).toMatchObject({ status: 400, code: 'invalid_type' });
  });

  it.each([
    ['a lone continuation byte', [0x80]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['a cut character', [0xe2, 0x82]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['UTF-16', [...Buffer.from('{}', 'utf16le'), 0xff, 0xfe]],
  ])('C bad UTF-8: %s', async (_name, bytes) => {
    const body = Buffer.concat([Buffer.from('{"model":"'), Buffer.from(bytes as number[]), Buffer.from('"}')]);
    expect(await refused(new Uint8Array(body))).toMatchObject({ status: 400, code: 'invalid_utf8' });
  });

  it.each([
    ['model as a number', { model: 5, messages }, 'model'],
    ['model as null', { model: null, messages }, 'model'],
    ['model as a list', { model: ['demo-chat'], messages }, 'model'],
    ['model as an object', { model: {}, messages }, 'model'],
    ['messages as text', { model: 'demo-chat', messages: 'Hello' }, 'messages'],
    ['messages as an object', { model: 'demo-chat', messages: {} }, 'messages'],
    ['no message', { model: 'demo-chat', messages: [] }, 'messages'],
    ['a message as text', { model: 'demo-chat', messages: ['Hello'] }, 'messages[0]'],
    ['a message without role', { model: 'demo-chat', messages: [{ content: 'x' }] }, 'messages[0].role'],
    ['stream as text', { model: 'demo-chat', messages, stream: 'yes' }, 'stream'],
    ['max_tokens as text', { model: 'demo-chat', messages, max_tokens: '5' }, 'max_tokens'],
    ['max_tokens below 1', { model: 'demo-chat', messages, max_tokens: -5 }, 'max_tokens'],
    ['half a token', { model: 'demo-chat', messages, max_tokens: 1.5 }, 'max_tokens'],
    ['n = 0', { model: 'demo-chat', messages, n: 0 }, 'n'],
    ['stream_options as a list', { model: 'demo-chat', messages, stream: true, stream_options: [] }, 'stream_options'],
  ])('C %s', async (_name, body, param) => {
    const error = await refused(JSON.stringify(body));
    expect(error.status).toBe(400);
    expect(error.param).toBe(param);
  });

  it.each([
    { max_tokens: 1e15 },
    { max_tokens: 9007199254740991 },
    { max_completion_tokens: 1e300 },
    { n: 1e300 },
    { n: 1e9, max_tokens: 1e9 },
    { model: 'demo-reasoner', max_completion_tokens: 9007199254740991 },
  ])('C amounts beyond all money: %j', async (more) => {
    const error = await refused(JSON.stringify({ model: 'demo-chat', messages, ...more }));
    expect([400, 429]).toContain(error.status);
    expect(['invalid_value', 'invalid_type', 'insufficient_quota']).toContain(error.code);
  });

  it.each(['[', '{"a":'])('C 100,000 levels of %s, never closed', async (open) => {
    expect(await refused(`{"model":"demo-chat","messages":${open.repeat(100_000)}`)).toMatchObject({ status: 400 });
  });

  it.each([
    ['messages', (deep: string) => `{"model":"demo-chat","messages":${deep}}`],
    ['a message', (deep: string) => `{"model":"demo-chat","messages":[${deep}]}`],
    ['model', (deep: string) => `{"model":${deep},"messages":[]}`],
    ['the body', (deep: string) => deep],
  ])('C 100,000 closed levels of brackets as %s', async (_name, write) => {
    expect(await refused(write(`${'['.repeat(100_000)}${']'.repeat(100_000)}`))).toMatchObject({ status: 400 });
  });

  it('C 100,000 levels in an unknown field, relayed or refused, do no harm', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const response = await stack.post(
      '/chat/completions',
      `{"model":"demo-chat","messages":[{"role":"user","content":"x"}],"metadata":${deep}}`,
    );
    await response.text();
    expect(response.status).toBeLessThan(500);
    charged += response.ok ? 1 : 0;
  });

  it.each([
    ['520,000 levels', `${'['.repeat(520_000)}${']'.repeat(520_000)}`],
    ['520,000 numbers', `[${'1,'.repeat(520_000)}1]`],
    ['520,000 levels never closed', '['.repeat(520_000)],
  ])('C more values than any conversation has: %s', async (_name, deep) => {
    const error = await refused(`{"model":"demo-chat","messages":${deep}}`);
    expect(error).toMatchObject({ status: 413, code: 'body_too_large' });
    expect(error.message).toContain('500,000 values');
  });

  it.each(['[],{} '.repeat(150_000), '\\"[,'.repeat(90_000)])('C within a string they are text', async (text) => {
    await accepted(`{"model":"demo-chat","messages":[{"role":"user","content":"${text}"}]}`);
  });

  it('C of a key that is there twice the last one counts, for the gateway and for the vendor', async () => {
    stack.simulator.reset();
    await accepted(`{"model":"alpha-image-1k","model":"demo-chat","messages":[{"role":"user","content":"Hello"}]}`);
    const [received] = stack.simulator.received;
    expect(String(received?.raw)).not.toContain('alpha-image-1k');
  });

  it('C __proto__ and constructor are fields like others', async () => {
    const odd = `"__proto__":{"stream":true,"polluted":1},"constructor":{"prototype":{"polluted":1}}`;
    stack.simulator.reset();
    // The vendor judges unknown fields, and gets them as they are.
    const judged = await refused(
      `{${odd},"model":"demo-chat","messages":[{"role":"user","content":"Hello","__proto__":{"x":1}}]}`,
    );
    expect(judged).toMatchObject({ status: 400, code: 'unknown_parameter' });
    expect(String(stack.simulator.received[0]?.raw)).toContain(odd);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    const error = await refused('{"__proto__":{"model":"demo-chat"},"messages":[]}');
    expect(error).toMatchObject({ status: 400, param: 'model' });
  });

  it.each([
    ['multipart/form-data; boundary=x', 415],
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['application/jsonp', 415],
    ['application/xml', 415],
    ['json', 415],
  ])('C content type %s', async (type, status) => {
    expect(await refused(hello, { 'content-type': type })).toMatchObject({ status, code: 'unsupported_content_type' });
  });

  it.each(['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON', 'application/vnd.api+json'])(
    'C content type %s is JSON',
    async (type) => {
      await accepted(hello, { 'content-type': type });
    },
  );

  it('C a missing content type is taken for JSON', async () => {
    const head = chatHead(stack, [`content-length: ${hello.length}`, 'connection: close']);
    const connection = await openRaw(stack.base);
    connection.send(head.replace('content-type: application/json\r\n', '') + hello);
    expect(statusOf(await connection.until('"usage"'))).toBe(200);
    connection.close();
    charged++;
  });
});

describe('C bodies that are not what was announced', () => {
  it('C shorter than its content length, then closed', async () => {
    const connection = await openRaw(stack.base);
    connection.send(chatHead(stack, ['content-length: 5000']) + hello);
    await delay(50);
    connection.close();
  });

  it('C shorter than its content length, then silent: 408', async () => {
    const connection = await openRaw(stack.base);
    connection.send(chatHead(stack, ['content-length: 5000']) + hello);
    const text = await connection.until('request id');
    expect(statusOf(text)).toBe(408);
    expect(codeOf(text)).toBe('request_timeout');
    connection.close();
  });

  it('C half-closed in the middle of the body', async () => {
    const connection = await openRaw(stack.base);
    connection.send(chatHead(stack, ['content-length: 5000']) + hello);
    connection.socket.end();
    await connection.ended();
    expect(connection.text()).not.toMatch(/ 200 /);
  });

  it('C longer than its content length: what follows is no request', async () => {
    const connection = await openRaw(stack.base);
    connection.send(`${chatHead(stack, ['content-length: 2'])}{}garbage that follows\r\n\r\n`);
    const text = await connection.ended();
    expect(text).not.toMatch(/ 200 /);
    connection.close();
  });

  it.each(['-1', '1e3', '0x10', '5, 5', '99999999999999999999', ' ', '+5'])('C content-length: %s', async (length) => {
    const text = await sendRaw(stack.base, chatHead(stack, [`content-length: ${length}`]) + hello, 1_500);
    expect(text).not.toMatch(/^HTTP\/1.1 200/);
  });

  it('C two content lengths', async () => {
    const text = await sendRaw(
      stack.base,
      chatHead(stack, ['content-length: 2', `content-length: ${hello.length}`]) + hello,
      1_500,
    );
    expect(text).not.toMatch(/^HTTP\/1.1 200/);
  });

  it('C a slow body: 408 after body.receiveTimeout, though bytes keep coming', async () => {
    const connection = await openRaw(stack.base);
    connection.send(chatHead(stack, ['content-length: 5000']));
    const started = performance.now();
    const drip = setInterval(() => connection.send(' '), 50);
    const text = await connection.until('request id');
    clearInterval(drip);
    expect(statusOf(text)).toBe(408);
    expect(performance.now() - started).toBeLessThan(1_500);
    connection.close();
  });

  // These two wait for the timers of uWebSockets.js, together.
  it.concurrent('C a slow head is closed', async () => {
    const connection = await openRaw(stack.base);
    const drip = setInterval(() => connection.send('x'), 1_000);
    connection.send('GET /healthz HTTP/1.1\r\nx: ');
    const text = await connection.ended(25_000);
    clearInterval(drip);
    expect(connection.socket.destroyed || text !== '').toBe(true);
    connection.close();
  });

  it.concurrent('C a body that rests for longer than uWebSockets.js waits, within body.receiveTimeout', async () => {
    const patient = await startStack();
    try {
      const connection = await openRaw(patient.base);
      connection.send(chatHead(patient, [`content-length: ${hello.length}`]) + hello.slice(0, 9));
      await delay(13_000);
      connection.send(hello.slice(9));
      expect(statusOf(await connection.until('"usage"'))).toBe(200);
      connection.close();
      await expectAtRest(patient, 1);
    } finally {
      await patient.close();
    }
  });

  it('C a chunked body', async () => {
    const connection = await openRaw(stack.base);
    const half = hello.length >> 1;
    const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
    connection.send(chatHead(stack, ['transfer-encoding: chunked']) + chunk(hello.slice(0, half)));
    await delay(20);
    connection.send(`${chunk(hello.slice(half))}0\r\n\r\n`);
    expect(statusOf(await connection.until('"usage"'))).toBe(200);
    connection.close();
    charged++;
  });

  it.each(['zz\r\n', 'ffffffffffffffffff\r\n', '-5\r\n', '5;x\r\nab'])('C a damaged chunk %j', async (chunk) => {
    const connection = await openRaw(stack.base);
    connection.send(chatHead(stack, ['transfer-encoding: chunked']) + chunk);
    const text = await connection.until(/\r\n\r\n/, 1_500);
    expect(text).not.toMatch(/^HTTP\/1.1 200/);
    connection.close();
  });

  it.each(['content length', 'chunks'])('C larger than the route accepts, by %s: the client reads 413', async (how) => {
    const large = Buffer.alloc(3 * 1024 * 1024, 0x20);
    const body =
      how === 'chunks'
        ? new ReadableStream<Uint8Array>({
            start(controller) {
              for (let at = 0; at < large.length; at += 65_536) controller.enqueue(large.subarray(at, at + 65_536));
              controller.close();
            },
          })
        : large;
    const response = await fetch(`${stack.base}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.key}`, 'content-type': 'application/json' },
      body,
      duplex: 'half',
    } as RequestInit);
    expect(response.status).toBe(413);
    expect(codeOf(await response.text())).toBe('body_too_large');
  });

  it('C an announced length beyond the limit, whose bytes never come, is refused at once', async () => {
    const text = await sendRaw(stack.base, chatHead(stack, ['content-length: 99999999']), 3_000);
    expect(statusOf(text)).toBe(413);
  });
});

describe('C hostile heads', () => {
  it('C 10 MB of one header', async () => {
    const connection = await openRaw(stack.base);
    connection.send('POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-large: ');
    for (let sent = 0; sent < 10; sent++) connection.send(Buffer.alloc(1024 * 1024, 0x61));
    const text = await connection.ended(5_000);
    expect(text).not.toMatch(/ 200 /);
    connection.close();
  });

  it('C a head that grows beyond headers.maximumBytes is answered with 431', async () => {
    const connection = await openRaw(stack.base);
    connection.send('GET /v1/models HTTP/1.1\r\nhost: x\r\nx-large: ');
    for (let sent = 0; sent < 5; sent++) {
      connection.send('a'.repeat(4_000));
      await delay(20);
    }
    expect(statusOf(await connection.ended(2_000))).toBe(431);
    connection.close();
  });

  it('C thousands of headers', async () => {
    const lines = Array.from({ length: 3_000 }, (_, index) => `x${index}: y`).join('\r\n');
    const text = await sendRaw(stack.base, `GET /healthz HTTP/1.1\r\nhost: x\r\n${lines}\r\n\r\n`);
    expect(text).not.toMatch(/ 200 /);
  });

  it.each([
    ['noise', Buffer.from([0, 1, 2, 3, 255, 254, 13, 10, 13, 10])],
    ['a TLS hello', Buffer.from('16030100f1010000ed0303', 'hex')],
    ['an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['no host', 'GET /healthz HTTP/1.1\r\n\r\n'],
    ['a version of its own', 'GET /healthz HTTP/9.9\r\nhost: x\r\n\r\n'],
    ['HTTP/1.0', 'GET /healthz HTTP/1.0\r\nhost: x\r\n\r\n'],
    ['a header without a colon', 'GET /healthz HTTP/1.1\r\nhost: x\r\nnocolon\r\n\r\n'],
    ['a blank before the colon', 'GET /healthz HTTP/1.1\r\nhost: x\r\nx : y\r\n\r\n'],
    ['a bare line feed', 'GET /healthz HTTP/1.1\nhost: x\n\n'],
    ['a folded header', 'GET /healthz HTTP/1.1\r\nhost: x\r\nx: a\r\n b\r\n\r\n'],
    ['a NUL in a header', 'GET /healthz HTTP/1.1\r\nhost: x\r\nx: a\0b\r\n\r\n'],
    ['an absolute URL', 'GET http://evil.example/healthz HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['a NUL in the path', 'GET /v1/mod\0els HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['bytes above ASCII in the path', Buffer.from('GET /v1/\xff\xfe HTTP/1.1\r\nhost: x\r\n\r\n', 'latin1')],
  ])('C %s is answered or closed', async (_name, bytes) => {
    const connection = await openRaw(stack.base);
    connection.send(bytes);
    const text = await connection.until(/\r\n\r\n/, 500);
    expect(text === '' || /^HTTP\/1\.[01] \d{3} /.test(text)).toBe(true);
    connection.close();
  });

  it.each([
    ['TE behind CL', ['content-length: 4', 'transfer-encoding: chunked']],
    ['CL behind TE', ['transfer-encoding: chunked', 'content-length: 4']],
    ['an unknown TE', ['transfer-encoding: xchunked', 'content-length: 4']],
    ['two TE', ['transfer-encoding: chunked', 'transfer-encoding: identity', 'content-length: 4']],
    ['TE with a blank', ['transfer-encoding : chunked', 'content-length: 4']],
  ])('C a smuggled request never runs: %s', async (_name, headers) => {
    const smuggled = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${stack.key}\r\ncontent-type: application/json\r\ncontent-length: ${hello.length}\r\n\r\n${hello}`;
    const connection = await openRaw(stack.base);
    connection.send(`${chatHead(stack, headers)}0\r\n\r\n${smuggled}`);
    const text = await connection.until('"usage"', 1_000);
    expect(text).not.toMatch(/ 200 /);
    connection.close();
  });

  it('C pipelined requests do not get mixed up', async () => {
    const connection = await openRaw(stack.base);
    const one = `${chatHead(stack, [`content-length: ${hello.length}`])}${hello}`;
    connection.send(one + one + one);
    const text = await connection.until(/"usage"/, 1_500);
    connection.close();
    await expect.poll(() => stack.gateway.snapshot.active).toBe(0);
    const answered = text.match(/HTTP\/1.1 200/g)?.length ?? 0;
    const rows = (await stack.usage()).filter((row) => row.quota > 0);
    expect(rows.length - charged).toBeGreaterThanOrEqual(answered);
    charged = rows.length;
  });

  it('C Expect: 100-continue gets its answer', async () => {
    const connection = await openRaw(stack.base);
    connection.send(chatHead(stack, ['expect: 100-continue', `content-length: ${hello.length}`]));
    await connection.until('100', 200);
    connection.send(hello);
    expect(await connection.until('"usage"')).toMatch(/HTTP\/1.1 200/);
    connection.close();
    charged++;
  });

  it('C 200 connections that send nothing keep nobody out', async () => {
    const silent = await Promise.all(Array.from({ length: 200 }, () => openRaw(stack.base)));
    await accepted(hello);
    for (const connection of silent) connection.close();
  });

  it('C 200 connections that stop after the head, after half a body and after the request', async () => {
    const head = chatHead(stack, [`content-length: ${hello.length}`]);
    const open = await Promise.all(Array.from({ length: 200 }, () => openRaw(stack.base)));
    for (const [index, connection] of open.entries()) {
      connection.send(index % 2 === 0 ? head : head + hello.slice(0, 20));
    }
    await delay(100);
    for (const connection of open) connection.close();
    await expect.poll(() => stack.gateway.snapshot.active).toBe(0);
  });
});
