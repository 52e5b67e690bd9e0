import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { payloadsOf, post, useSimulator } from './start.ts';
import { exchange, unchunk } from './wire.ts';

const simulator = useSimulator();
const CHAT = '/openai/v1/chat/completions';
const messages = [{ role: 'user', content: 'Hello' }];

/** A chat request whose model carries the fault. */
const chat = (fault: string, extra: object = {}, patience?: number) =>
  exchange({
    url: simulator.current.url,
    path: CHAT,
    body: { model: `gpt-4.1-mini!${fault}`, messages, ...extra },
    ...(patience === undefined ? {} : { patience }),
  });
const stream = (fault: string, patience?: number) => chat(fault, { stream: true }, patience);
const reply = (path: string, body: object) => post(`${simulator.current.url}${path}`, body);
const gemini = (fault: string, model = 'gemini-3-pro-image') =>
  reply(`/gemini/v1beta/models/${model}!${fault}:generateContent`, { contents: [{ parts: [{ text: 'x' }] }] });
const xai = (fault: string, body: object = {}) =>
  reply('/xai/v1/images/generations', { model: `grok-imagine-image!${fault}`, prompt: 'x', ...body });
const openaiImage = (fault: string) =>
  reply('/openai/v1/images/generations', { model: `gpt-image-2!${fault}`, prompt: 'x' });
const framesOf = (body: Buffer): string[] =>
  unchunk(body)
    .text.split('\n\n')
    .filter((frame) => frame !== '');
const FULL_STREAM = 8 + 2 + 1;

describe('answers instead of the real one', () => {
  it('latency delays the head', async () => {
    const start = performance.now();
    const { arrivals, status } = await chat('latency=120');
    expect(arrivals[0]!.at - start).toBeGreaterThanOrEqual(115);
    expect(status).toBe(200);
  });

  it('status answers the vendor’s own error, with the wait in the vendor’s own form', async () => {
    const openai = await reply(CHAT, { model: 'gpt-5.5!status=503,retryAfter=7', messages });
    expect(openai).toMatchObject({
      status: 503,
      body: { error: { type: 'server_error', code: 'server_is_overloaded' } },
    });
    expect(openai.headers.get('retry-after')).toBe('7');
    const google = await gemini('status=429,retryAfter=17');
    expect(google).toMatchObject({
      status: 429,
      body: { error: { status: 'RESOURCE_EXHAUSTED', details: [{ retryDelay: '17s' }] } },
    });
    expect(await xai('status=429')).toMatchObject({ status: 429, body: { code: 'Some resource has been exhausted' } });
  });

  it('error200 hides the error in a 200', async () => {
    const { status, body } = await reply(CHAT, { model: 'gpt-5.5!error200', messages });
    expect(status).toBe(200);
    expect(body.error.type).toBe('server_error');
    expect((await gemini('error200')).body.error.status).toBe('INTERNAL');
  });

  it('refuse=safety is the vendor’s own moderation refusal', async () => {
    expect(await openaiImage('refuse=safety')).toMatchObject({
      status: 400,
      body: { error: { type: 'image_generation_user_error', code: 'moderation_blocked' } },
    });
    const google = await gemini('refuse=safety');
    expect(google).toMatchObject({ status: 200, body: { candidates: [{ finishReason: 'IMAGE_SAFETY' }] } });
    expect(google.body.candidates[0].content).toBeUndefined();
    const items = (await xai('refuse=safety', { n: 2 })).body.data;
    expect(items).toEqual(new Array(2).fill({ revised_prompt: '', respect_moderation: false }));
  });

  it('refuse=prompt, some and noimage are the other ways to get no picture', async () => {
    const feedback = (await gemini('refuse=prompt')).body;
    expect(feedback.promptFeedback.blockReason).toBe('PROHIBITED_CONTENT');
    expect(feedback.candidates).toBeUndefined();
    expect(await xai('refuse=prompt')).toMatchObject({ status: 400, body: { code: 'imagine:content-moderated' } });
    const some = (await xai('refuse=some', { n: 3 })).body.data.map(
      (item: { respect_moderation: boolean }) => item.respect_moderation,
    );
    expect(some).toEqual([false, true, true]);
    expect((await gemini('refuse=noimage')).body.candidates[0]).toMatchObject({
      finishReason: 'NO_IMAGE',
      content: { parts: [{ text: expect.any(String) }] },
    });
    expect((await openaiImage('refuse=noimage')).body.data).toEqual([]);
  });

  it('a request that is wrong itself keeps its own error under refuse', async () => {
    expect((await xai('refuse=safety', { n: 99 })).status).toBe(400);
  });

  it('empty200 and wrongtype answer 200 with nothing and with a page', async () => {
    const empty = await chat('empty200');
    expect(empty).toMatchObject({ status: 200, body: Buffer.alloc(0) });
    expect(empty.head).toContain('application/json');
    expect(framesOf((await stream('empty200')).body)).toEqual([]);
    const page = await chat('wrongtype');
    expect(page.head).toContain('text/html');
    expect(page.body.toString()).toContain('<!doctype html>');
  });

  it('nousage leaves usage out everywhere', async () => {
    expect((await reply(CHAT, { model: 'gpt-5.5!nousage', messages })).body.usage).toBeUndefined();
    const asked = await chat('nousage', { stream: true, stream_options: { include_usage: true } });
    expect(framesOf(asked.body)).toHaveLength(FULL_STREAM);
    expect((await openaiImage('nousage')).body.usage).toBeUndefined();
    expect((await gemini('nousage')).body.usageMetadata).toBeUndefined();
    expect((await xai('nousage')).body.usage).toBeUndefined();
  });
});

it('a suffix is found in a percent-encoded path as well', async () => {
  const path = '/gemini/v1beta/models/gemini-3.6-flash%21status%3D503:generateContent';
  expect((await reply(path, { contents: [] })).status).toBe(503);
});

describe('events that are wrong', () => {
  it('malformed breaks one event, or a whole body of the right length', async () => {
    const frames = framesOf((await stream('malformed=2')).body);
    const parses = frames.map((frame) => {
      try {
        JSON.parse(frame.slice('data: '.length));
        return true;
      } catch {
        return frame === 'data: [DONE]';
      }
    });
    expect(parses).toEqual([true, true, false, ...new Array(FULL_STREAM - 3).fill(true)]);
    const whole = await chat('malformed');
    expect(() => JSON.parse(whole.body.toString())).toThrow();
    expect(whole.head).toContain(`content-length: ${whole.body.length}`);
  });

  it('errorframe puts the vendor’s error event after N events, also first, and ends', async () => {
    for (const after of [0, 3]) {
      const { body } = await stream(`errorframe=${after}`);
      const frames = framesOf(body);
      expect(frames).toHaveLength(after + 1);
      expect(JSON.parse(frames.at(-1)!.slice(6)).error.type).toBe('server_error');
      expect(unchunk(body).complete).toBe(true);
    }
    const client = new OpenAI({ apiKey: 'k', baseURL: `${simulator.current.url}/openai/v1`, maxRetries: 0 });
    const events = await client.images.generate({
      model: 'gpt-image-2!errorframe=1',
      prompt: 'x',
      stream: true,
      partial_images: 2,
    });
    const read = async (): Promise<string[]> => {
      const types = [];
      for await (const { type } of events) types.push(type);
      return types;
    };
    await expect(read()).rejects.toThrow(/error/i);
  });

  it('nodone leaves only [DONE] out', async () => {
    const frames = framesOf((await stream('nodone')).body);
    expect(frames).toHaveLength(FULL_STREAM - 1);
    expect(frames).not.toContain('data: [DONE]');
  });

  it('hugeline makes one long line that is still JSON', async () => {
    const { chunks } = unchunk((await stream('hugeline=2000000')).body);
    expect(chunks[0]!.length).toBeGreaterThan(2_000_000);
    expect(JSON.parse(chunks[0]!.toString().slice(6)).object).toBe('chat.completion.chunk');
  });

  it('crlf ends every line of a stream with CRLF', async () => {
    const { text } = unchunk((await stream('crlf')).body);
    expect(text.replaceAll('\r\n', '')).not.toContain('\n');
    expect(payloadsOf(text)).toHaveLength(FULL_STREAM);
  });
});

describe('bytes that are written wrongly', () => {
  it('cut destroys the connection after N events, without the closing chunk', async () => {
    const { body, ending } = await stream('cut=3');
    const { chunks, complete } = unchunk(body);
    expect([chunks.length, complete, ending]).toEqual([3, false, 'end']);
    expect(simulator.current.received.at(-1)).toMatchObject({ events: 3, aborted: false });
    const none = await stream('cut');
    expect([none.status, none.body.length, none.ending]).toEqual([200, 0, 'end']);
  });

  it('cut and cutbody leave a whole body short of its content length', async () => {
    for (const fault of ['cut', 'cutbody=50']) {
      const { head, body, ending } = await chat(fault);
      expect(Number(/content-length: (\d+)/.exec(head)![1])).toBeGreaterThan(body.length);
      expect(body.length).toBeGreaterThan(0);
      expect(ending).toBe('end');
    }
  });

  it('stall falls silent after N events until the client leaves, which is recorded', async () => {
    const { body, ending } = await stream('stall=2', 150);
    expect([unchunk(body).chunks.length, ending]).toEqual([2, 'open']);
    await expect.poll(() => simulator.current.received.at(-1)!.aborted).toBe(true);
    expect((await chat('stall', {}, 100)).ending).toBe('open');
  });

  it('delay spaces events, cut with delay composes', async () => {
    const { arrivals, body } = await stream('cut=3,delay=50');
    expect(unchunk(body).chunks).toHaveLength(3);
    expect(arrivals.at(-1)!.at - arrivals[0]!.at).toBeGreaterThanOrEqual(95);
  });

  it('trickle writes N bytes at a time', async () => {
    const { arrivals, body } = await chat('trickle=10', {}, 5000);
    expect(arrivals.length).toBeGreaterThan(20);
    expect(JSON.parse(body.toString()).object).toBe('chat.completion');
  });

  it('split cuts through frames and characters, and loses nothing', async () => {
    const { body } = await stream('split=5', 3000);
    const { chunks, text, complete } = unchunk(body);
    expect(complete).toBe(true);
    expect(chunks.every(({ length }) => length <= 5)).toBe(true);
    const cutCharacter = chunks.some((chunk) => !chunk.equals(Buffer.from(chunk.toString('utf8'))));
    expect(cutCharacter).toBe(true);
    const pieces = payloadsOf(text)
      .slice(0, -1)
      .map((payload) => JSON.parse(payload).choices[0].delta.content ?? '');
    expect(pieces.join('')).toBe('You said: Hello – Grüße aus 東京 🙂');
  });

  it('length announces more or less than is sent', async () => {
    const sizes = async (which: string): Promise<[number, number]> => {
      const { head, body } = await chat(`length=${which}`);
      return [Number(/content-length: (\d+)/.exec(head)![1]), body.length];
    };
    const [declared, sent] = await sizes('longer');
    expect(declared).toBe(sent + 64);
    const [less, all] = await sizes('shorter');
    expect(less).toBe(all - 64);
    await expect(
      fetch(`${simulator.current.url}${CHAT}`, {
        method: 'POST',
        headers: { authorization: 'Bearer k', 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-4.1-mini!length=longer', messages }),
      }).then((response) => response.text()),
    ).rejects.toThrow();
  });

  it('reset answers RST, before the body is read or after', async () => {
    expect(await chat('reset=read')).toMatchObject({ status: undefined, ending: 'ECONNRESET' });
    simulator.current.faults.add({ match: { vendor: 'openai', times: 1 }, fault: { reset: 'now' } });
    expect(await chat('nodone')).toMatchObject({ status: undefined, ending: 'ECONNRESET' });
    expect(simulator.current.received.at(-1)).toMatchObject({ body: undefined, path: CHAT });
    expect((await chat('nodone')).status).toBe(200);
  });

  it('undelayed events are writes of their own', async () => {
    const content = 'x [chunks=100] [tokens=100]';
    const { arrivals, body } = await chat('nodone', { stream: true, messages: [{ role: 'user', content }] });
    expect(unchunk(body).chunks).toHaveLength(102);
    expect(arrivals.length).toBeGreaterThan(10);
  });

  it('a client that leaves a slow stream is recorded with how far it came', async () => {
    await chat('delay=30', { stream: true, messages: [{ role: 'user', content: '[chunks=100]' }] }, 100);
    await expect.poll(() => simulator.current.received.at(-1)!.aborted).toBe(true);
    const { events } = simulator.current.received.at(-1)!;
    expect(events).toBeGreaterThan(0);
    expect(events).toBeLessThan(20);
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect(simulator.current.received.at(-1)!.events).toBe(events);
  });
});
