import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { clientOf, lastRow, payloads, startVendor, startWith } from './support.ts';

describe('4.1 POST /v1/audio/speech', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack();
  });
  afterAll(() => stack.close());

  const speak = (body: object) => stack.post('/audio/speech', { model: 'demo-tts', voice: 'alloy', ...body });

  it('the official SDK gets sound', async () => {
    const answer = await clientOf(stack).audio.speech.create({
      model: 'demo-tts',
      voice: 'alloy',
      input: 'Good morning [bytes=100000]',
    });
    const sound = Buffer.from(await answer.arrayBuffer());
    expect(sound).toHaveLength(100_000);
    expect(answer.headers.get('content-type')).toBe('audio/mpeg');
    expect(await lastRow(stack)).toMatchObject({ characters: 27, usageSource: 'measured', outcome: 'ok' });
  });

  it.each([
    ['mp3', 'audio/mpeg'],
    ['opus', 'audio/opus'],
    ['aac', 'audio/aac'],
    ['flac', 'audio/flac'],
    ['wav', 'audio/wav'],
    ['pcm', 'audio/pcm'],
  ])('%s comes with its content type', async (response_format, type) => {
    const answer = await speak({ input: 'Hello', response_format });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe(type);
    expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(0);
  });

  it('is billed by characters as people count them', async () => {
    await (await speak({ input: '👩‍🚀é!'.repeat(500) })).arrayBuffer();
    // An astronaut is three code points: 2500 × 0.000015 USD
    expect(await lastRow(stack)).toMatchObject({ characters: 2500, quota: 18_750, usageSource: 'measured' });
  });

  it('events pass with their usage', async () => {
    const answer = await speak({ model: 'demo-tts-mini', input: 'Hello [tokens=90]', stream_format: 'sse' });
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const events = payloads(await answer.text()).map((data) => JSON.parse(data) as { type: string });
    expect(events.at(-1)).toMatchObject({ type: 'speech.audio.done', usage: { output_tokens: 90 } });
    expect(events[0]).toMatchObject({ type: 'speech.audio.delta' });
    const row = await lastRow(stack);
    expect(row).toMatchObject({ inputTokens: 5, outputTokens: 90, audioOutputTokens: 90, usageSource: 'measured' });
    expect(row.quota).toBe(Math.round(((5 * 0.6 + 90 * 12) / 1e6) * 500_000));
  });

  it('a model priced by tokens is estimated where sound comes without usage', async () => {
    await (await speak({ model: 'demo-tts-mini', input: 'x'.repeat(300) })).arrayBuffer();
    expect(await lastRow(stack)).toMatchObject({ inputTokens: 75, outputTokens: 400, usageSource: 'estimated' });
  });

  it.each([
    [{ input: '' }, 'missing_required_parameter', 'input'],
    [{ input: ['a'] }, 'invalid_type', 'input'],
    [{ input: 'a', model: 'demo-whisper' }, 'unsupported_endpoint', 'model'],
    [{ input: 'a', voice: 'nobody' }, 'invalid_value', 'voice'],
    [{ input: 'a', stream_format: 'sse' }, 'unsupported_value', 'stream_format'],
  ])('%o is refused with 400 and not charged', async (body, code, param) => {
    const charged = async () => (await stack.usage()).filter(({ quota }) => quota > 0).length;
    const before = await charged();
    const answer = await speak(body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { code, param } });
    expect(await charged()).toBe(before);
  });
});

describe('4.1 POST /v1/audio/speech: the Content-Type tells the format', () => {
  const answered = async (type: string | null, body: Buffer, request: object) => {
    const vendor = await startVendor((incoming, response) => {
      incoming.resume();
      if (type !== null) response.setHeader('content-type', type);
      response.end(body);
    });
    const stack = await startWith(vendor.baseUrl, 'demo-tts');
    const answer = await stack.post('/audio/speech', { model: 'demo-tts', voice: 'a', input: 'Hello', ...request });
    const result = { status: answer.status, type: answer.headers.get('content-type'), row: await lastRow(stack) };
    await stack.close();
    vendor.close();
    return result;
  };
  const sound = Buffer.from('ID3 sound');
  const error = Buffer.from('{"error":{"message":"no","type":"server_error"}}');

  it.each([
    ['application/octet-stream', {}, 'audio/mpeg'],
    ['application/octet-stream', { response_format: 'opus' }, 'audio/ogg'],
    ['application/octet-stream', { response_format: 'its-own' }, 'application/octet-stream'],
    [null, { response_format: 'wav' }, 'audio/wav'],
    ['audio/x-own', {}, 'audio/x-own'],
    ['application/ogg', { response_format: 'opus' }, 'application/ogg'],
    // A model that does not speak in events.
    ['audio/mpeg', { stream_format: 'sse' }, 'audio/mpeg'],
  ])('%s and %o: %s', async (type, request, expected) => {
    expect(await answered(type, sound, request)).toMatchObject({ status: 200, type: expected });
  });

  it.each([
    ['JSON', 'application/json', error, {}],
    ['JSON that is no error', 'application/json', Buffer.from('{}'), {}],
    ['an error as bytes', 'application/octet-stream', error, {}],
    ['an error without a type', null, error, {}],
    ['text', 'text/plain', sound, {}],
    ['a page', 'text/html', Buffer.from('<html>'), {}],
    ['nothing', 'audio/mpeg', Buffer.alloc(0), {}],
    ['events that nobody asked for', 'text/event-stream', Buffer.from('data: {}\n\n'), {}],
  ])('%s is no sound', async (_name, type, body, request) => {
    const { status, row } = await answered(type, body, request);
    expect(status).toBe(502);
    expect(row).toMatchObject({ quota: 0, outcome: 'error' });
  });

  it('raw samples may begin with a brace', async () => {
    const raw = await answered('application/octet-stream', Buffer.from('{ samples'), { response_format: 'pcm' });
    expect(raw).toMatchObject({ status: 200, type: 'audio/pcm' });
  });
});
