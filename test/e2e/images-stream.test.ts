/** Image streams (spec 2.4, 6.1): native ones of alpha, those the gateway makes itself for beta and gamma. */
import { createConnection } from 'node:net';
import OpenAI, { toFile } from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import {
  edit,
  eventsOf,
  eventually,
  expectAudit,
  expectError,
  type FakeVendor,
  formOf,
  generate,
  type Handler,
  jsonOf,
  namesOf,
  onlyChannel,
  picture,
  png,
  sendForm,
  sent,
  startVendor,
  stored,
} from './images-kit.ts';

let stack: Stack;
/** With the usual heartbeat: answers come before it, however busy the machine is. */
let unhurried: Stack;
let vendor: FakeVendor;
let handler: Handler;
let client: OpenAI;

beforeAll(async () => {
  vendor = await startVendor((request, response, body) => handler(request, response, body));
  stack = await startStack({
    heartbeat: 40,
    edit(documents) {
      documents.models.models['alpha-odd'] = {
        ...documents.models.models['alpha-image-1k'],
      };
      documents.routes.routes.find(({ path }: { path: string }) => path === '/v1/images/generations').timeout = '4s';
      onlyChannel(documents, 'odd', { vendor: 'openai', baseUrl: vendor.url, models: { 'alpha-odd': 'gpt-image-2' } });
      documents.channels.channels.odd.cooldown = { failures: 1000, first: '1s', longest: '1s' };
    },
  });
  unhurried = await startStack();
  client = new OpenAI({ baseURL: stack.base, apiKey: stack.key, maxRetries: 0 });
});
afterEach(() => {
  stack.simulator.reset();
  unhurried.simulator.reset();
});
afterAll(async () => {
  await expectAudit(stack);
  await stack.close();
  await unhurried.close();
  await vendor.close();
});

const alpha = 'alpha-image-1k';
const latest = async () => (await stack.usage())[0]!;

describe('alpha, native', () => {
  it('6.1 partial images, then completed rewritten to a url, [DONE] at the end', async () => {
    const response = await generate(stack, { model: alpha, stream: true, partial_images: 2 });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const events = eventsOf(await response.text());
    expect(namesOf(events)).toEqual([
      'image_generation.partial_image',
      'image_generation.partial_image',
      'image_generation.completed',
      '[DONE]',
    ]);
    expect(events.slice(0, 2).map(({ data }) => data.partial_image_index)).toEqual([0, 1]);
    for (const { data } of events.slice(0, 2)) expect(picture(data.b64_json).format).toBe('png');
    const { data } = events[2]!;
    expect(data.b64_json).toBeUndefined();
    expect(data.data).toBeUndefined();
    expect(await stored(stack, data.url)).toEqual({ format: 'png', width: 1024, height: 1024 });
    expect(data).toMatchObject({ size: '1024x1024', quality: 'high', output_format: 'png' });
    expect(sent(stack)).toEqual({
      model: 'gpt-image-2',
      prompt: 'a fox',
      n: 1,
      size: '1024x1024',
      quality: 'high',
      stream: true,
      partial_images: 2,
    });
    expect(await latest()).toMatchObject({ images: 1, quota: 100_000, outcome: 'ok', status: 200, attempts: 1 });
  });

  it('2.4 b64_json in place of the url', async () => {
    const response = await generate(stack, { model: alpha, stream: true, response_format: 'b64_json' });
    const events = eventsOf(await response.text());
    expect(namesOf(events)).toEqual(['image_generation.completed', '[DONE]']);
    expect(events[0]!.data.url).toBeUndefined();
    expect(picture(events[0]!.data.b64_json)).toEqual({ format: 'png', width: 1024, height: 1024 });
  });

  it('6.1 image_edit.completed for an edit', async () => {
    const response = await edit(stack, { model: alpha, stream: 'true', partial_images: '1' });
    const events = eventsOf(await response.text());
    expect(namesOf(events)).toEqual(['image_edit.partial_image', 'image_edit.completed', '[DONE]']);
    await stored(stack, events[1]!.data.url);
    expect(sent(stack).fields).toMatchObject({ stream: 'true', partial_images: '1' });
  });

  it('8 n=2: two completed events, charged as two', async () => {
    const response = await generate(stack, { model: alpha, stream: true, n: 2, partial_images: 1 });
    const events = eventsOf(await response.text());
    expect(namesOf(events).filter((name) => name.endsWith('completed'))).toHaveLength(2);
    const urls = events.flatMap(({ data }) => data?.url ?? []);
    expect(new Set(urls).size).toBe(2);
    const row = await latest();
    expect(row).toMatchObject({ images: 2, quota: 200_000 });
    const tokens = events.map(({ data }) => data?.usage?.output_tokens ?? 0).reduce((sum, one) => sum + one, 0);
    expect(row.outputTokens).toBe(tokens);
  });

  it('6.1 the SDK reads the stream', async () => {
    const stream = await client.images.generate({ model: alpha, prompt: 'a fox', stream: true, partial_images: 1 });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types).toEqual(['image_generation.partial_image', 'image_generation.completed']);
  });

  it.each([
    ['crlf', { crlf: true }],
    ['split to pieces of 1000 bytes', { split: 1000 }],
    ['without usage', { nousage: true }],
    ['without [DONE]', { nodone: true }],
    ['with blanks inside', { hugeline: 100_000 }],
  ])('6.1 a vendor stream %s gives the same events', async (_name, fault) => {
    stack.simulator.faults.add({ fault });
    const response = await generate(stack, { model: alpha, stream: true, partial_images: 1 });
    const events = eventsOf(await response.text());
    expect(namesOf(events)).toEqual(['image_generation.partial_image', 'image_generation.completed', '[DONE]']);
    await stored(stack, events[1]!.data.url);
    expect(events[1]!.data.usage).toBeDefined();
  });

  it('7 an error before the first event has a status', async () => {
    stack.simulator.faults.add({ fault: { errorframe: 0 } });
    const response = await generate(stack, { model: alpha, stream: true });
    expect(response.status).toBeGreaterThanOrEqual(500);
    await expectError(response, 502, 'upstream_error');
    expect(await latest()).toMatchObject({ images: 0, quota: 0, outcome: 'error' });
  });

  it('7 an error after a preview is an event, without [DONE], and is not charged', async () => {
    stack.simulator.faults.add({ fault: { errorframe: 1 } });
    const response = await generate(stack, { model: alpha, stream: true, partial_images: 2 });
    expect(response.status).toBe(200);
    const events = eventsOf(await response.text());
    expect(namesOf(events)).toEqual(['image_generation.partial_image', 'error']);
    expect(events[1]!.data.error).toMatchObject({ type: 'server_error' });
    expect(events[1]!.data.error.message).toContain(`(request id: ${response.headers.get('x-request-id')})`);
    expect(stack.simulator.received).toHaveLength(1);
    expect(await latest()).toMatchObject({ images: 0, quota: 0, outcome: 'error', status: 200 });
  });

  it.each([
    ['cut', { cut: 1 }],
    ['broken JSON', { malformed: 1 }],
  ])('7 a stream with %s after a preview ends with an error event and is tried nowhere else', async (_name, fault) => {
    stack.simulator.faults.add({ fault });
    const response = await generate(stack, { model: alpha, stream: true, partial_images: 2 });
    const events = eventsOf(await response.text());
    expect(namesOf(events)).toEqual(['image_generation.partial_image', 'error']);
    expect(stack.simulator.received).toHaveLength(1);
    expect(await latest()).toMatchObject({ images: 0, quota: 0, outcome: 'error' });
  });

  it('8 a stream that breaks after the first of two images is charged one', async () => {
    stack.simulator.faults.add({ fault: { cut: 1 } });
    const response = await generate(stack, { model: alpha, stream: true, n: 2 });
    const events = eventsOf(await response.text());
    expect(namesOf(events)).toEqual(['image_generation.completed', 'error']);
    await stored(stack, events[0]!.data.url);
    expect(await latest()).toMatchObject({ images: 1, quota: 100_000, outcome: 'error' });
  });

  it('7 a refusal has a status: 400 moderation_blocked, not charged', async () => {
    stack.simulator.faults.add({ fault: { refuse: 'safety' } });
    const response = await generate(stack, { model: alpha, stream: true });
    const error = await expectError(response, 400, 'moderation_blocked');
    expect(error.type).toBe('image_generation_user_error');
    expect(await latest()).toMatchObject({ images: 0, quota: 0, status: 400 });
  });
});

it('6.1 the SDK reads the stream of an edit', async () => {
  for (const model of [alpha, 'beta-3-pro-image', 'gamma-imagine-image']) {
    const image = await toFile(png(), 'a.png', { type: 'image/png' });
    const stream = await client.images.edit({ model, prompt: 'night', image, stream: true });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types).toEqual(['image_edit.completed']);
  }
});

describe('alpha, vendors that are merely alike', () => {
  const sse = { 'content-type': 'Text/Event-Stream' };
  const completed = () =>
    `event: image_generation.completed\ndata: ${JSON.stringify({ type: 'image_generation.completed', b64_json: png().toString('base64') })}\n\n`;

  it('6.1 a vendor that stalls after the completed event: the client is done at once', async () => {
    handler = (_request, response) => {
      response.writeHead(200, sse);
      response.write(completed());
    };
    const started = Date.now();
    const response = await generate(stack, { model: 'alpha-odd', stream: true });
    expect(namesOf(eventsOf(await response.text()))).toEqual(['image_generation.completed', '[DONE]']);
    expect(Date.now() - started).toBeLessThan(2000);
    expect(await latest()).toMatchObject({ images: 1, outcome: 'ok' });
  });

  it.each([
    ['[DONE]', 'data: [DONE]\n\n'],
    ['an event of its own', 'event: done\ndata: {}\n\n'],
  ])('6.1 a vendor that closes its stream with %s: the client gets one [DONE]', async (_name, marker) => {
    handler = (_request, response) => {
      response.writeHead(200, sse);
      response.end(completed() + marker);
    };
    const response = await generate(stack, { model: 'alpha-odd', stream: true });
    expect(namesOf(eventsOf(await response.text()))).toEqual(['image_generation.completed', '[DONE]']);
    expect(await latest()).toMatchObject({ images: 1, outcome: 'ok' });
  });

  it('6.1 a connection cut after the completed event spoils nothing', async () => {
    handler = (_request, response) => {
      response.writeHead(200, sse);
      response.write(completed(), () => response.destroy());
    };
    const response = await generate(stack, { model: 'alpha-odd', stream: true });
    expect(namesOf(eventsOf(await response.text()))).toEqual(['image_generation.completed', '[DONE]']);
  });

  it('8 more images than were asked for are neither delivered nor charged', async () => {
    handler = (_request, response) => {
      response.writeHead(200, sse);
      response.end(completed().repeat(3));
    };
    const response = await generate(stack, { model: 'alpha-odd', stream: true });
    expect(namesOf(eventsOf(await response.text()))).toEqual(['image_generation.completed', '[DONE]']);
    expect(await latest()).toMatchObject({ images: 1, quota: 100_000 });
  });

  it('2.4 a vendor that answers JSON to a stream: the gateway makes the event', async () => {
    handler = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ created: 1, data: [{ b64_json: png().toString('base64') }] }));
    };
    const response = await generate(stack, { model: 'alpha-odd', stream: true });
    const events = eventsOf(await response.text());
    expect(namesOf(events)).toEqual(['image_generation.completed', '[DONE]']);
    expect(await stored(stack, events[0]!.data.url)).toEqual({ format: 'png', width: 48, height: 32 });
  });

  it('2.4 images of one whole answer become events: its usage stands once, in the last', async () => {
    const item = { b64_json: png().toString('base64') };
    const usage = { total_tokens: 30, input_tokens: 10, output_tokens: 20 };
    handler = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ created: 1, data: [item, item], usage }));
    };
    const events = eventsOf(await (await generate(stack, { model: 'alpha-odd', stream: true, n: 2 })).text());
    expect(events.map(({ data }) => data?.usage.total_tokens ?? null)).toEqual([0, 30, null]);
    expect(await latest()).toMatchObject({ images: 2, inputTokens: 10, outputTokens: 20 });
  });

  it('2.3 a vendor that answers events to a plain request: 502, never events for a client that wants JSON', async () => {
    handler = (_request, response) => {
      response.writeHead(200, sse);
      response.end(completed());
    };
    await expectError(await generate(stack, { model: 'alpha-odd' }), 502, 'upstream_invalid_response');
  });

  it.each([
    ['nothing', ''],
    ['only [DONE]', 'data: [DONE]\n\n'],
    ['an event of another kind', 'event: ping\ndata: {"type":"ping"}\n\n'],
    ['a completed event without an image', 'data: {"type":"image_generation.completed"}\n\n'],
    ['no JSON', 'data: <html>\n\n'],
    ['a text in place of an image', 'data: {"type":"image_generation.completed","b64_json":"aGVsbG8="}\n\n'],
  ])('7 a stream of %s is 502 and not charged', async (_name, text) => {
    handler = (_request, response) => {
      response.writeHead(200, sse);
      response.end(text);
    };
    const response = await generate(stack, { model: 'alpha-odd', stream: true });
    await expectError(response, 502, 'upstream_invalid_response');
    expect(await latest()).toMatchObject({ images: 0, quota: 0 });
  });
});

describe.each(['beta-3-pro-image', 'gamma-imagine-image'])('%s, made by the gateway', (model) => {
  it('6.1 heartbeats while it waits, then completed and [DONE]', async () => {
    stack.simulator.faults.add({ fault: { latency: 250 } });
    const response = await generate(stack, { model, stream: true });
    const text = await response.text();
    expect(text).toMatch(/^(: ping\n\n){2,}event: image_generation\.completed\n/);
    const events = eventsOf(text);
    expect(namesOf(events)).toEqual(['image_generation.completed', '[DONE]']);
    const drawn = await stored(stack, events[0]!.data.url);
    expect(events[0]!.data).toMatchObject({
      size: `${drawn.width}x${drawn.height}`,
      output_format: drawn.format,
      usage: { total_tokens: expect.any(Number) },
    });
    expect(await latest()).toMatchObject({ images: 1, outcome: 'ok' });
  });

  it('6.1 an edit: image_edit.completed, b64_json as asked', async () => {
    const response = await edit(stack, { model, stream: 'true', response_format: 'b64_json' });
    const events = eventsOf(await response.text());
    expect(namesOf(events)).toEqual(['image_edit.completed', '[DONE]']);
    expect(picture(events[0]!.data.b64_json).width).toBeGreaterThan(0);
  });

  it('6.1 the SDK passes over heartbeats', async () => {
    stack.simulator.faults.add({ fault: { latency: 150 } });
    const stream = await client.images.generate({ model, prompt: 'a fox', stream: true });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types).toEqual(['image_generation.completed']);
  });

  it('7 an error before the first heartbeat has a status', async () => {
    unhurried.simulator.faults.add({ fault: { status: 400 } });
    const response = await generate(unhurried, { model, stream: true });
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toBe('application/json');
  });

  it('7 an error after heartbeats is an event, without [DONE]; the SDK throws it', async () => {
    stack.simulator.faults.add({ fault: { status: 400, latency: 150 } });
    const response = await generate(stack, { model, stream: true });
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(text).toMatch(/^(: ping\n\n)+event: error\n/);
    expect(namesOf(eventsOf(text))).toEqual(['error']);
    expect(await latest()).toMatchObject({ images: 0, quota: 0, outcome: 'error', status: 200 });
    const stream = await client.images.generate({ model, prompt: 'a fox', stream: true });
    await expect(async () => {
      for await (const _event of stream);
    }).rejects.toThrow(/request id/);
  });

  it('7 a refusal in a stream: 400 before the heartbeat, an event after', async () => {
    unhurried.simulator.faults.add({ fault: { refuse: 'safety' } });
    await expectError(await generate(unhurried, { model, stream: true }), 400, 'moderation_blocked');
    stack.simulator.faults.add({ fault: { refuse: 'safety', latency: 150 } });
    const events = eventsOf(await (await edit(stack, { model, stream: 'true' })).text());
    expect(namesOf(events)).toEqual(['error']);
    expect(events[0]!.data.error).toMatchObject({
      code: 'moderation_blocked',
      type: 'image_generation_user_error',
    });
    for (const { usage } of [stack, unhurried]) expect((await usage())[0]!.quota).toBe(0);
  });
});

it('2.7 gamma n=3 streams three completed events and one usage', async () => {
  const response = await generate(stack, { model: 'gamma-imagine-image', stream: true, n: 3 });
  const events = eventsOf(await response.text());
  expect(namesOf(events)).toEqual([...Array(3).fill('image_generation.completed'), '[DONE]']);
  expect(await latest()).toMatchObject({ images: 3, quota: 75_000 });
});

it.each([alpha, 'beta-3-pro-image', 'gamma-imagine-image'])(
  '2.2 4.3 %s: stream and response_format are read from the form, and only from there',
  async (model) => {
    const files = [{ field: 'image', bytes: png() }];
    const whole = await sendForm(
      stack,
      formOf({ model, prompt: 'p', stream: 'false', response_format: 'b64_json' }, files),
    );
    expect(whole.headers.get('content-type')).toBe('application/json');
    expect(picture((await jsonOf(whole)).data[0].b64_json).width).toBeGreaterThan(0);
    const streamed = await sendForm(
      stack,
      formOf({ model, prompt: 'p', stream: 'true', response_format: 'b64_json' }, files),
    );
    const [completed] = eventsOf(await streamed.text());
    expect(completed!.event).toBe('image_edit.completed');
    expect(picture(completed!.data.b64_json).width).toBeGreaterThan(0);
    const elsewhere = await fetch(`${stack.base}/images/edits?stream=true&response_format=b64_json`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.key}`, stream: 'true', 'response-format': 'b64_json' },
      body: formOf({ model, prompt: 'p' }, files),
    });
    expect(elsewhere.headers.get('content-type')).toBe('application/json');
    await stored(stack, (await jsonOf(elsewhere)).data[0].url);
  },
);

describe('a client that reads slowly', () => {
  /** Reads nothing until `resume` is called. */
  function openSlowly(body: object) {
    const { hostname, port } = new URL(stack.base);
    const text = JSON.stringify({ prompt: 'a fox [bytes=12000000]', stream: true, ...body });
    const socket = createConnection({ host: hostname, port: Number(port) });
    socket.pause();
    socket.write(
      `POST /v1/images/generations HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${stack.key}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
    return socket;
  }

  it('6.1 no heartbeat falls into the middle of an event', async () => {
    const socket = openSlowly({ model: 'gamma-imagine-image', response_format: 'b64_json' });
    await new Promise((resolve) => setTimeout(resolve, 1200));
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.resume();
    await eventually(
      () => chunks.reduce((sum, chunk) => sum + chunk.length, 0),
      (bytes) => bytes > 16_000_000,
    );
    await eventually(
      () => chunks.at(-1)?.toString('latin1') ?? '',
      (tail) => tail.endsWith('\r\n0\r\n\r\n'),
    );
    socket.destroy();
    const whole = Buffer.concat(chunks).toString('latin1');
    const data = dechunk(whole.slice(whole.indexOf('\r\n\r\n') + 4));
    const events = eventsOf(data);
    expect(namesOf(events)).toEqual(['image_generation.completed', '[DONE]']);
    expect(Buffer.from(events[0]!.data.b64_json, 'base64')).toHaveLength(12_000_000);
  });

  it('2.3 a whole answer of many megabytes arrives to the last byte, however it is read', async () => {
    const socket = openSlowly({ model: 'gamma-imagine-image', response_format: 'b64_json', n: 3, stream: false });
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      if (chunks.length % 100 !== 0) return;
      socket.pause();
      setTimeout(() => socket.resume(), 2);
    });
    const closed = new Promise((resolve) => socket.on('close', resolve));
    await new Promise((resolve) => setTimeout(resolve, 800));
    socket.resume();
    await closed;
    const whole = Buffer.concat(chunks).toString('latin1');
    const body = whole.slice(whole.indexOf('\r\n\r\n') + 4);
    expect(body).toHaveLength(Number(/content-length: (\d+)/i.exec(whole)![1]));
    const lengths = JSON.parse(body).data.map(
      (item: { b64_json: string }) => picture(item.b64_json) && item.b64_json.length,
    );
    expect(lengths).toEqual(Array(3).fill(16_000_000));
  });

  it('7 one that never reads is cut off at the deadline, and the request ends', async () => {
    const socket = openSlowly({ model: 'gamma-imagine-image', response_format: 'b64_json' });
    socket.on('error', () => {});
    await eventually(
      () => stack.gateway.snapshot.active,
      (active) => active === 1,
    );
    const active = await eventually(
      () => stack.gateway.snapshot.active,
      (count) => count === 0,
      8000,
    );
    expect(active).toBe(0);
    expect(await latest()).toMatchObject({ outcome: 'aborted' });
    socket.destroy();
  });
});

function dechunk(text: string): string {
  let rest = text;
  let joined = '';
  for (;;) {
    const end = rest.indexOf('\r\n');
    const size = Number.parseInt(rest.slice(0, end), 16);
    if (!(size > 0)) return joined;
    joined += rest.slice(end + 2, end + 2 + size);
    rest = rest.slice(end + 2 + size + 2);
  }
}
