/** Which failures of an image vendor move on to the next channel, and which end the request (spec 7; routes.yaml, failover). */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import {
  edit,
  eventsOf,
  eventually,
  expectAudit,
  expectError,
  type FakeVendor,
  generate,
  type Handler,
  jsonOf,
  namesOf,
  onlyChannel,
  png,
  startVendor,
  stored,
} from './images-kit.ts';

let stack: Stack;
let vendor: FakeVendor;
let first: Handler;
/** Status that the first vendor answers before it reads; 0: it reads. */
let early = 0;

const model = 'alpha-two';

/** The first channel is a vendor that fails as the test says; the second one, of a lower priority, is sound. */
beforeAll(async () => {
  vendor = await startVendor(
    (request, response, body) => first(request, response, body),
    () => early,
  );
  stack = await startStack({
    edit(documents) {
      const { models } = documents.models;
      models[model] = models['alpha-image-1k'];
      models['alpha-dead'] = models['alpha-image-1k'];
      const cooldown = { failures: 1000, first: '1ms', longest: '1ms' };
      const models2 = { [model]: 'gpt-image-2' };
      onlyChannel(documents, 'first', {
        vendor: 'openai',
        baseUrl: vendor.url,
        models: models2,
        priority: 20,
        cooldown,
        timeouts: { connect: '1s', firstByte: '1s', idle: '1s' },
      });
      documents.channels.channels.dead = {
        ...documents.channels.channels.first,
        baseUrl: 'http://127.0.0.1:1',
        models: { 'alpha-dead': 'gpt-image-2' },
      };
      documents.channels.channels.second = {
        ...documents.channels.channels['simulated-openai'],
        models: { ...models2, 'alpha-dead': 'gpt-image-2' },
        cooldown,
      };
    },
  });
});
beforeEach(() => {
  stack.simulator.reset();
  vendor.hits.length = 0;
});
afterAll(async () => {
  await expectAudit(stack);
  await stack.close();
  await vendor.close();
});

const latest = async () => (await stack.usage())[0]!;
const failing = (status: number, headers = {}): Handler => {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ error: { message: 'no', type: 'server_error', code: null, param: null } }));
  };
};

describe('next channel', () => {
  it.each([429, 500, 502, 503, 529])('7 a %i moves on to the next channel, charged once', async (status) => {
    first = failing(status);
    const response = await generate(stack, { model });
    expect(response.status).toBe(200);
    await stored(stack, (await jsonOf(response)).data[0].url);
    expect(vendor.hits).toHaveLength(1);
    expect(stack.simulator.received).toHaveLength(1);
    expect(await latest()).toMatchObject({ attempts: 2, channel: 'second', images: 1, quota: 100_000, outcome: 'ok' });
  });

  it('7 an edit moves on with all of its files', async () => {
    first = failing(503);
    expect((await edit(stack, { model }, [png(1), png(2)])).status).toBe(200);
    const { files } = stack.simulator.received[0]!.body as { files: { bytes: Buffer }[] };
    expect(files.map(({ bytes }, index) => bytes.equals(png(index + 1)))).toEqual([true, true]);
  });

  it('7 a stream that failed before its first event moves on', async () => {
    first = failing(500);
    const text = await (await generate(stack, { model, stream: true })).text();
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(await latest()).toMatchObject({ attempts: 2, images: 1 });
  });

  it('7 a vendor that reports an error in its stream and goes on sending is cut off', async () => {
    let cut = false;
    first = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: error\ndata: {"type":"error","error":{"message":"no","code":"server_error"}}\n\n');
      const sending = setInterval(() => response.write(`: ${'x'.repeat(100_000)}\n\n`), 1);
      response.on('close', () => {
        clearInterval(sending);
        cut = true;
      });
    };
    await generate(stack, { model, stream: true }).then((response) => response.text());
    expect(
      await eventually(
        () => cut,
        (value) => value,
      ),
    ).toBe(true);
  });

  it('7 a vendor that answers before it has read a large upload is heard, and the upload goes on to the next', async () => {
    const big = Buffer.concat([png(), Buffer.alloc(20_000_000)]);
    for (const status of [503, 413]) {
      stack.simulator.reset();
      early = status;
      const response = await edit(stack, { model }, [big]);
      expect(response.status).toBe(status === 503 ? 200 : 413);
      expect(stack.simulator.received).toHaveLength(status === 503 ? 1 : 0);
    }
    early = 0;
  });

  it('7 a refused connection moves on', async () => {
    expect((await generate(stack, { model: 'alpha-dead' })).status).toBe(200);
    expect(await latest()).toMatchObject({ attempts: 2, channel: 'second', images: 1 });
  });

  it.each([401, 403])('5 a bad credential of the vendor (%i) moves on, and is never a 401 of ours', async (status) => {
    first = (_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ error: { message: 'Incorrect API key provided: sk-abc', code: 'invalid_api_key' } }),
      );
    };
    expect((await generate(stack, { model })).status).toBe(200);
    expect(await latest()).toMatchObject({ attempts: 2 });
    await new Promise((resolve) => setTimeout(resolve, 20));
    stack.simulator.faults.add({ fault: { status: 401 } });
    const error = await expectError(await generate(stack, { model }), 502, 'upstream_error');
    expect(error.message).not.toContain('sk-abc');
  });
});

describe('no second attempt', () => {
  it.each([400, 404, 409, 413, 422])('7 a %i ends the request', async (status) => {
    first = failing(status);
    expect((await generate(stack, { model })).status).toBe(status);
    expect(stack.simulator.received).toHaveLength(0);
    expect(await latest()).toMatchObject({ attempts: 1, quota: 0, status });
  });

  it('7 a failure that would move on ends the request once a preview is out', async () => {
    first = (_request, response) => {
      const preview = {
        type: 'image_generation.partial_image',
        b64_json: png().toString('base64'),
        partial_image_index: 0,
      };
      const error = {
        message: 'You exceeded your current quota',
        type: 'insufficient_quota',
        code: 'insufficient_quota',
      };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: ${preview.type}\ndata: ${JSON.stringify(preview)}\n\n`);
      response.end(`event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`);
    };
    const text = await (await generate(stack, { model, stream: true, partial_images: 1 })).text();
    expect(namesOf(eventsOf(text))).toEqual(['image_generation.partial_image', 'error']);
    expect(stack.simulator.received).toHaveLength(0);
    expect(await latest()).toMatchObject({ attempts: 1, images: 0, quota: 0, outcome: 'error', status: 200 });
  });

  it('7 a Retry-After beside a status that ends the request is told', async () => {
    first = failing(409, { 'retry-after': '4' });
    const response = await generate(stack, { model });
    expect([response.status, response.headers.get('retry-after')]).toEqual([409, '4']);
    expect(stack.simulator.received).toHaveLength(0);
  });

  it.each<[string, Handler, number, string]>([
    ['a timeout before the first byte', () => {}, 504, 'upstream_timeout'],
    [
      'a timeout in the body',
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{"data":');
      },
      504,
      'upstream_timeout',
    ],
    ['a 504 of the vendor', failing(504), 504, 'upstream_timeout'],
    ['a 408 of the vendor', failing(408), 504, 'upstream_timeout'],
    ['a reset', (request) => request.socket.resetAndDestroy(), 502, 'upstream_unreachable'],
    [
      'a reset in the body',
      (request, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
        response.write('{"data":', () => request.socket.resetAndDestroy());
      },
      502,
      'upstream_unreachable',
    ],
    ['a malformed answer', (_request, response) => response.end('{"data":[{'), 502, 'upstream_invalid_response'],
    ['a page', (_request, response) => response.end('<html>'), 502, 'upstream_invalid_response'],
  ])('7 %s: the image may have been made and charged', async (_name, handler, status, code) => {
    first = handler;
    await expectError(await generate(stack, { model }), status, code);
    expect(vendor.hits).toHaveLength(1);
    expect(stack.simulator.received).toHaveLength(0);
    expect(await latest()).toMatchObject({ attempts: 1, quota: 0, images: 0, outcome: 'error', status, code });
  });
});

describe('nothing is left', () => {
  it('7 when all fail the last failure is told, with the shortest Retry-After', async () => {
    first = failing(429, { 'retry-after': '3' });
    stack.simulator.faults.add({ fault: { status: 429, retryAfter: 9 } });
    const response = await generate(stack, { model });
    expect(response.headers.get('retry-after')).toBe('3');
    await expectError(response, 429, 'upstream_rate_limited');
    expect(await latest()).toMatchObject({ attempts: 2, quota: 0, images: 0, status: 429 });
  });
});
