/** What a client asks for must not put a channel to rest: others use it too (spec 7). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { formOf, lastRow, postForm, startVendor, startWith, wavFile } from './support.ts';

let stack: Stack | null = null;
let vendor: Awaited<ReturnType<typeof startVendor>> | null = null;
afterEach(async () => {
  await stack?.close();
  vendor?.close();
  stack = vendor = null;
});

/** A vendor that does what a request says: `[type, body]` by what stands in its body. */
async function serve(model: string, answer: (asked: string) => readonly [type: string, body: string]): Promise<Stack> {
  vendor = await startVendor((request: IncomingMessage, response: ServerResponse) => {
    let asked = '';
    request.on('data', (chunk) => {
      asked += chunk;
    });
    request.on('end', () => {
      const [type, body] = answer(asked);
      response.writeHead(200, { 'content-type': type });
      response.end(body);
    });
  });
  stack = await startWith(vendor.baseUrl, model);
  return stack;
}

/** More often than a channel may fail in a row. */
async function insist(ask: () => Promise<Response>): Promise<Response[]> {
  const answers: Response[] = [];
  for (let turn = 0; turn < 4; turn++) answers.push(await ask());
  return answers;
}

const statuses = (answers: readonly Response[]): number[] => answers.map(({ status }) => status);
const fine = [200, 200, 200, 200];

describe('7 an answer of the kind that the client asked for is no fault of the channel', () => {
  const events = 'data: {"type":"transcript.text.done","text":"hi"}\n\n';
  const transcribe = (own: Stack, fields: Record<string, string>) =>
    postForm(own, '/audio/transcriptions', formOf({ file: wavFile(1), model: 'demo-whisper', ...fields }));
  const listening = () =>
    serve('demo-whisper', (asked) => {
      if (/name="stream"\r\n\r\n(1|on|yes)/.test(asked)) return ['text/event-stream', events];
      return /name="response_format"/.test(asked)
        ? ['text/plain', '[00:00.00]hi']
        : ['application/json', '{"text":"hi"}'];
    });

  it.each(['1', 'on', 'yes'])('7 a transcription that is streamed for `stream=%s`', async (stream) => {
    const own = await listening();
    const answers = await insist(() => transcribe(own, { stream }));
    expect(statuses(answers)).toEqual(fine);
    expect(await answers[0]!.text()).toBe(events);
    expect((await transcribe(own, {})).status).toBe(200);
  });

  it('7 a transcription in a format that only its vendor knows', async () => {
    const own = await listening();
    const answers = await insist(() => transcribe(own, { response_format: 'lrc' }));
    expect(statuses(answers)).toEqual(fine);
    expect(await answers[0]!.text()).toBe('[00:00.00]hi');
  });

  it('7 silence, of which a vendor has nothing to write', async () => {
    const own = await serve('demo-whisper', (asked) =>
      asked.includes('"response_format"') ? ['text/plain', ''] : ['application/json', '{"text":""}'],
    );
    const answers = await insist(() => transcribe(own, { response_format: 'text' }));
    expect(statuses(answers)).toEqual(fine);
    expect(await answers[0]!.text()).toBe('');
    expect(await lastRow(own)).toMatchObject({ seconds: 1, quota: 50 });
    expect((await transcribe(own, {})).status).toBe(200);
  });

  it('7 sound of a model that does not speak in events', async () => {
    const own = await serve('demo-tts', () => ['audio/mpeg', 'ID3 sound']);
    const speak = () =>
      own.post('/audio/speech', { model: 'demo-tts', voice: 'a', input: 'Hello', stream_format: 'sse' });
    const answers = await insist(speak);
    expect(statuses(answers)).toEqual(fine);
    expect(answers[0]!.headers.get('content-type')).toBe('audio/mpeg');
  });
});

it('7 an error of the client’s own inside a 200 is told as one, and rests no channel', async () => {
  const error = { message: 'Too long.', type: 'invalid_request_error', param: 'input', code: 'too_long' };
  const own = await serve('demo-embedding', () => ['application/json', JSON.stringify({ error })]);
  const answers = await insist(() => own.post('/embeddings', { model: 'demo-embedding', input: 'x' }));
  expect(statuses(answers)).toEqual([400, 400, 400, 400]);
  expect(await answers[0]!.json()).toMatchObject({ error: { code: 'too_long', param: 'input' } });
});

it('7 more than the gateway reads: a client that asks for so much is told, and rests no channel', async () => {
  let much = true;
  vendor = await startVendor((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json');
    if (!much) return response.end('{"data":[{"index":0,"embedding":[1]}]}');
    const piece = Buffer.alloc(1024 * 1024, ' ');
    return Readable.from(Array<Buffer>(130).fill(piece)).pipe(response);
  });
  stack = await startWith(vendor.baseUrl, 'demo-embedding', {
    edit: ({ channels }) => {
      channels.channels.only.cooldown = { failures: 1, first: '1m', longest: '1m' };
    },
  });
  const own = stack;
  const ask = () => own.post('/embeddings', { model: 'demo-embedding', input: 'x' });
  const answer = await ask();
  expect(answer.status).toBe(413);
  expect(await answer.json()).toMatchObject({ error: { code: 'body_too_large' } });
  much = false;
  expect((await ask()).status).toBe(200);
});

it('7 a vendor that breaks off what its client reads slowly is not blamed', async () => {
  const answers: ServerResponse[] = [];
  let lastSent = 0;
  let endless = true;
  vendor = await startVendor((request, response) => {
    request.resume();
    response.setHeader('content-type', 'audio/mpeg');
    if (!endless) return response.end('ID3 sound');
    answers.push(response);
    const send = (): void => {
      lastSent = performance.now();
      while (!response.destroyed && response.write(Buffer.alloc(64 * 1024)));
    };
    response.on('drain', send);
    return send();
  });
  stack = await startWith(vendor.baseUrl, 'demo-tts', {
    edit: ({ channels }) => {
      channels.channels.only.cooldown = { failures: 1, first: '1m', longest: '1m' };
    },
  });
  const own = stack;
  const speak = () => own.post('/audio/speech', { model: 'demo-tts', voice: 'a', input: 'Hello' });
  const slow = await speak();
  // Nobody reads: all buffers fill, and the vendor gives up.
  await expect.poll(() => performance.now() - lastSent, { timeout: 10_000 }).toBeGreaterThan(500);
  answers[0]!.destroy();
  await expect(slow.arrayBuffer()).rejects.toThrow();
  await expect.poll(() => own.gateway.snapshot.active).toBe(0);
  expect(await lastRow(own)).toMatchObject({ outcome: 'error', characters: 5 });
  endless = false;
  expect((await speak()).status).toBe(200);
});

describe('8 names that differ in their case alone', () => {
  it.each([
    ['/embeddings', { model: 'demo-embedding', input: 'x', Model: 'text-embedding-3-large' }, 'model'],
    ['/embeddings', { model: 'demo-embedding', input: 'x', INPUT: ['x', 'y'] }, 'input'],
    ['/chat/completions', { model: 'demo-chat', messages: [{ role: 'user', content: 'x' }], Model: 'o3-pro' }, 'model'],
  ])('8 %s: some vendors read either, so it is refused before any is asked', async (path, body, param) => {
    stack = await startStack();
    const answer = await stack.post(path, body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { code: 'invalid_value', param } });
    expect(stack.simulator.received).toHaveLength(0);
  });
});
