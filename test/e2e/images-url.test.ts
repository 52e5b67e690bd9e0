/** Images that a vendor names by URL: fetched and stored or turned to Base64, never handed out, and never a way into the house. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { isPublicAddress } from '../../engine/upstream/fetch.ts';
import { type Stack, startStack } from '../kit/stack.ts';
import {
  answerJson,
  eventually,
  expectAudit,
  expectError,
  type FakeVendor,
  generate,
  type Handler,
  jsonOf,
  onlyChannel,
  png,
  startVendor,
  stored,
} from './images-kit.ts';

let stack: Stack;
let vendor: FakeVendor;
let trap: FakeVendor;
/** What the vendor's answer names, and what is served below `/file`. */
let named: (request: { readonly n: number }) => readonly object[];
let file: Handler;

const model = 'gamma-odd';

beforeAll(async () => {
  vendor = await startVendor((request, response, body) => {
    if (request.url!.startsWith('/file')) file(request, response, body);
    else answerJson(response, { data: named(JSON.parse(body.toString())) });
  });
  trap = await startVendor((_request, response) => response.end(png()));
  stack = await startStack({
    edit(documents) {
      documents.models.models[model] = documents.models.models['gamma-imagine-image'];
      onlyChannel(documents, 'odd', {
        vendor: 'xai',
        baseUrl: `${vendor.url}/v1`,
        models: { [model]: 'grok-imagine-image' },
        cooldown: { failures: 1000, first: '1s', longest: '1s' },
      });
      const images = documents.routes.chains.images;
      images[images.indexOf('storage')] = { storage: { fetchTimeout: 1500, maximumBytes: 200_000 } };
    },
  });
});
afterEach(() => {
  vendor.hits.length = 0;
  trap.hits.length = 0;
});
afterAll(async () => {
  await expectAudit(stack);
  await stack.close();
  await vendor.close();
  await trap.close();
});

const url = (path: string) => ({ url: path.startsWith('/') ? `${vendor.url}${path}` : path });
const latest = async () => (await stack.usage())[0]!;

describe('a URL of the channel itself', () => {
  it('2.3 is fetched and stored: the client gets our URL, not the vendor’s', async () => {
    named = () => [url('/file/a.png')];
    file = (_request, response) => response.end(png());
    const text = await (await generate(stack, { model })).text();
    expect(text).not.toContain(String(vendor.port));
    expect(await stored(stack, JSON.parse(text).data[0].url)).toEqual({ format: 'png', width: 48, height: 32 });
  });

  it('2.3 is turned to Base64 where that was asked for', async () => {
    named = () => [url('/file/a.png')];
    file = (_request, response) => response.end(png());
    const reply = await jsonOf(await generate(stack, { model, response_format: 'b64_json' }));
    expect(Buffer.from(reply.data[0].b64_json, 'base64').equals(png())).toBe(true);
    expect(reply.data[0].url).toBeUndefined();
  });

  it('2.3 several, in their order, in a stream too', async () => {
    named = ({ n }) => Array.from({ length: n }, (_, index) => url(`/file/${index}`));
    file = (request, response) => response.end(png(Number(request.url!.at(-1))));
    const reply = await jsonOf(await generate(stack, { model, n: 7, response_format: 'b64_json' }));
    reply.data.forEach((item: { b64_json: string }, index: number) => {
      expect(Buffer.from(item.b64_json, 'base64').equals(png(index))).toBe(true);
    });
    const text = await (await generate(stack, { model, n: 2, stream: true })).text();
    expect(text).not.toContain(String(vendor.port));
    expect(text.match(/event: image_generation\.completed/g)).toHaveLength(2);
  });

  it.each(['b64_json', 'url'])('2.3 a data URL in `%s` is Base64 with a prefix', async (name) => {
    named = () => [{ [name]: `data:image/png;base64,${png().toString('base64')}` }];
    const reply = await jsonOf(await generate(stack, { model, response_format: 'b64_json' }));
    expect(Buffer.from(reply.data[0].b64_json, 'base64').equals(png())).toBe(true);
  });

  it('6.2 a client that leaves ends the transfer at once', async () => {
    named = () => [url('/file/slow')];
    let cut = 0;
    const asked = new Promise<void>((resolve) => {
      file = (_request, response) => {
        response.on('close', () => {
          cut = Date.now();
        });
        response.writeHead(200, { 'content-type': 'image/png' });
        response.write(png().subarray(0, 20));
        resolve();
      };
    });
    const client = new AbortController();
    const answer = fetch(`${stack.base}/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, prompt: 'a fox' }),
      signal: client.signal,
    }).catch(() => null);
    await asked;
    const left = Date.now();
    client.abort();
    await answer;
    await eventually(
      () => cut,
      (time) => time > 0,
    );
    expect(cut - left).toBeLessThan(1000);
    await eventually(
      () => stack.gateway.snapshot.active,
      (active) => active === 0,
    );
    expect(await latest()).toMatchObject({ outcome: 'aborted', quota: 0 });
  });

  it('2.3 no credential is sent there', async () => {
    let headers: object = {};
    named = () => [url('/file/a.png')];
    file = (request, response) => {
      headers = request.headers;
      response.end(png());
    };
    await generate(stack, { model });
    expect(JSON.stringify(headers)).not.toMatch(/xai-fake|bearer/i);
  });

  it('2.3 a redirect within the origin is followed, three times at the most', async () => {
    named = () => [url('/file/0')];
    file = (request, response) => {
      const step = Number(request.url!.at(-1));
      if (step === 3) return void response.end(png());
      response.writeHead(302, { location: `/file/${step + 1}` });
      response.end();
    };
    const followed = ['/file/0', '/file/1', '/file/2', '/file/3'];
    expect((await generate(stack, { model })).status).toBe(200);
    expect(vendor.hits).toEqual(['/v1/images/generations', ...followed]);
    vendor.hits.length = 0;
    file = (request, response) => {
      const step = Number(request.url!.at(-1));
      if (step === 4) return void response.end(png());
      response.writeHead(302, { location: `/file/${step + 1}` });
      response.end();
    };
    await expectError(await generate(stack, { model }), 502, 'upstream_invalid_response');
    expect(vendor.hits).toEqual(['/v1/images/generations', ...followed]);
  });

  it('7 even there a URL with credentials is not fetched', async () => {
    const { port } = new URL(vendor.url);
    file = (_request, response) => response.end(png());
    for (const userinfo of ['user:pass', 'user', ':pass']) {
      named = () => [{ url: `http://${userinfo}@127.0.0.1:${port}/file/a.png` }];
      await expectError(await generate(stack, { model }), 502, 'upstream_invalid_response');
    }
    expect(vendor.hits).toEqual(Array(3).fill('/v1/images/generations'));
  });

  it.each<[string, Handler]>([
    [
      'an endless redirect',
      (_request, response) => {
        response.writeHead(302, { location: '/file/again' });
        response.end();
      },
    ],
    ['404', (_request, response) => answerJson(response, {}, 404)],
    ['500', (_request, response) => answerJson(response, {}, 500)],
    ['206', (_request, response) => answerJson(response, {}, 206)],
    ['a page', (_request, response) => response.end('<html>')],
    ['nothing', (_request, response) => response.end()],
    ['more than an image may have', (_request, response) => response.end(Buffer.alloc(5_000_000, png()))],
    [
      'more than an image may have, announced',
      (_request, response) => {
        response.writeHead(200, { 'content-length': '99999999999' });
        response.write(png());
      },
    ],
    ['a cut connection', (_request, response) => response.write(png().subarray(0, 50), () => response.destroy())],
    ['no head', () => {}],
    ['a slow head', (request) => void setInterval(() => request.socket.write('H'), 200).unref()],
    [
      'a slow body',
      (_request, response) => {
        response.write(png().subarray(0, 60));
        const timer = setInterval(() => response.write('x'), 100);
        response.on('close', () => clearInterval(timer));
      },
    ],
  ])('7 %s is 502 in bounded time, not charged', async (_name, handler) => {
    named = () => [url('/file/a.png')];
    file = handler;
    const started = Date.now();
    await expectError(await generate(stack, { model }), 502, 'upstream_invalid_response');
    expect(Date.now() - started).toBeLessThan(5000);
    expect(await latest()).toMatchObject({ images: 0, quota: 0, outcome: 'error' });
    expect(vendor.hits.length).toBeLessThan(8);
  });

  it('7 one bad image of several fails the whole, and nothing is charged', async () => {
    named = () => [url('/file/good'), url('/file/bad'), url('/file/good')];
    file = (request, response) => response.end(request.url!.endsWith('bad') ? 'x' : png());
    await expectError(await generate(stack, { model, n: 3 }), 502, 'upstream_invalid_response');
    expect(await latest()).toMatchObject({ images: 0, quota: 0 });
  });
});

describe('a URL into the house', () => {
  const ways: [string, (port: number) => string][] = [
    ['loopback, another port', (port) => `http://127.0.0.1:${port}/`],
    ['loopback, another address', (port) => `http://127.1.2.3:${port}/`],
    ['a short form', (port) => `http://127.1:${port}/`],
    ['decimal', (port) => `http://2130706433:${port}/`],
    ['octal', (port) => `http://0177.0.0.1:${port}/`],
    ['hexadecimal', (port) => `http://0x7f000001:${port}/`],
    ['zero', (port) => `http://0.0.0.0:${port}/`],
    ['IPv6 loopback', (port) => `http://[::1]:${port}/`],
    ['IPv4 in IPv6', (port) => `http://[::ffff:127.0.0.1]:${port}/`],
    ['IPv4 in IPv6, hexadecimal', (port) => `http://[::ffff:7f00:1]:${port}/`],
    ['IPv4 in IPv6, compatible', (port) => `http://[::127.0.0.1]:${port}/`],
    ['a name', (port) => `http://localhost:${port}/`],
    ['a name with a dot', (port) => `http://localhost.:${port}/`],
    ['full-width digits', (port) => `http://１２７.0.0.1:${port}/`],
    ['the metadata service', () => 'http://169.254.169.254/latest/meta-data/'],
    ['10.0.0.0/8', () => 'http://10.0.0.1/'],
    ['192.168.0.0/16', () => 'http://192.168.1.1/'],
    ['172.16.0.0/12', () => 'http://172.16.0.1/'],
    ['100.64.0.0/10', () => 'http://100.64.0.1/'],
    ['unique local', () => 'http://[fc00::1]/'],
    ['link local', () => 'http://[fe80::1]/'],
    ['credentials', (port) => `http://user:pass@127.0.0.1:${port}/`],
    ['credentials before a public name', () => 'https://user@example.com/'],
    ['a file', () => 'file:///etc/passwd'],
    ['ftp', () => 'ftp://127.0.0.1/'],
    ['javascript', () => 'javascript:alert(1)'],
    ['no URL', () => 'not a url'],
    ['a relative path', () => '../../etc/passwd'],
    ['a name that does not exist', () => 'http://no-such-host.invalid/'],
    ['a very long one', () => `http://127.0.0.1/${'a'.repeat(9000)}`],
  ];

  it.each(ways)('7 %s is 502 in bounded time and nobody is asked', async (_name, make) => {
    named = () => [{ url: make(trap.port) }];
    const started = Date.now();
    for (const response_format of ['url', 'b64_json']) {
      const response = await generate(stack, { model, response_format });
      const error = await expectError(response, 502, 'upstream_invalid_response');
      expect(error.message).not.toContain('127.0.0.1');
    }
    expect(Date.now() - started).toBeLessThan(8000);
    expect(trap.hits).toEqual([]);
    expect(await latest()).toMatchObject({ images: 0, quota: 0 });
  });

  it.each(ways.slice(0, 15))('7 a redirect to it (%s) is not followed', async (_name, make) => {
    named = () => [url('/file/a.png')];
    file = (_request, response) => {
      response.writeHead(302, { location: encodeURI(make(trap.port)) });
      response.end();
    };
    await expectError(await generate(stack, { model }), 502, 'upstream_invalid_response');
    expect(trap.hits).toEqual([]);
  });
});

describe('addresses', () => {
  it.each([
    ['8.8.8.8', true],
    ['1.1.1.1', true],
    ['2606:4700:4700::1111', true],
    ['::ffff:8.8.8.8', true],
    ['127.0.0.1', false],
    ['0.0.0.0', false],
    ['10.1.2.3', false],
    ['169.254.169.254', false],
    ['192.0.2.1', false],
    ['198.18.0.1', false],
    ['224.0.0.1', false],
    ['240.0.0.1', false],
    ['255.255.255.255', false],
    ['::', false],
    ['::1', false],
    ['::127.0.0.1', false],
    ['::7f00:1', false],
    ['4000::1', false],
    ['::ffff:10.0.0.1', false],
    ['::ffff:0:10.0.0.1', false],
    ['64:ff9b::7f00:1', false],
    ['64:ff9b:1::7f00:1', false],
    ['2002:7f00:1::', false],
    ['2001::1', false],
    ['2001:db8::1', false],
    ['fc00::1', false],
    ['fe80::1', false],
    ['fe80::1%eth0', false],
    ['fec0::1', false],
    ['ff02::1', false],
    ['', false],
    ['example.com', false],
  ])('%s is public: %s', (address, expected) => {
    expect(isPublicAddress(address)).toBe(expected);
  });
});
