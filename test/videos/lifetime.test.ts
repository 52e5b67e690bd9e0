import { readdir } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startGateway } from '../../engine/gateway.ts';
import { silentLog } from '../../engine/observe/log.ts';
import { builtIns } from '../../plugins/index.ts';
import type { Documents, Stack } from '../kit/stack.ts';
import { available, create, ended, startVideoStack, until } from './support.ts';
import { json, type OwnVendor, smallMp4, startVendor } from './vendor.ts';

async function stackFor(edit?: (documents: Documents) => void): Promise<Stack> {
  const stack = await startVideoStack(edit === undefined ? {} : { edit });
  onTestFinished(() => stack.close());
  return stack;
}

describe('7 a deadline', () => {
  it('fails the task, releases what was held once, and asks the vendor no more', async () => {
    const stack = await stackFor(({ gateway }) => {
      gateway.videos.deadline = '1s';
    });
    const before = await available(stack);
    const { id } = (await create(stack, { prompt: 'A kite [polls=100000]' })).body;
    expect(await available(stack)).toBe(before - 200_000);
    const video = await ended(stack, id);
    expect(video).toMatchObject({ status: 'failed', error: { code: 'upstream_timeout' } });
    expect(await available(stack)).toBe(before);
    const polls = stack.simulator.received.length;
    expect(polls).toBeGreaterThan(1);
    await delay(150);
    expect(stack.simulator.received.length).toBe(polls);
    expect(await stack.usage()).toMatchObject([{ quota: 0, status: 504, code: 'upstream_timeout', outcome: 'error' }]);
  });
});

describe('a reload', () => {
  it('changes neither price nor channel of what was accepted', async () => {
    const stack = await stackFor();
    const { id } = (await create(stack, { prompt: 'A kite [polls=30]' })).body;
    await stack.rewrite(({ models, channels }) => {
      models.models['demo-video'].price.second = '9';
      channels.groups.default.multiplier = '3';
      channels.channels['simulated-openai'].credentials.reverse();
      delete channels.channels['simulated-openai'].models['demo-video'];
    });
    await stack.gateway.reload();
    expect(await ended(stack, id)).toMatchObject({ status: 'completed' });
    expect(await stack.usage()).toMatchObject([{ quota: 200_000, multiplier: '1', channel: 'simulated-openai' }]);
  });

  it('without the channel fails the task after a while, and costs nothing', async () => {
    const stack = await stackFor();
    const before = await available(stack);
    const { id } = (await create(stack, { prompt: 'A kite [polls=100000]' })).body;
    await stack.rewrite(({ channels }) => {
      delete channels.channels['simulated-openai'];
    });
    await stack.gateway.reload();
    const start = performance.now();
    expect(await ended(stack, id)).toMatchObject({ status: 'failed', error: { code: 'no_channel_available' } });
    expect(performance.now() - start).toBeGreaterThan(100);
    expect(await available(stack)).toBe(before);
  });

  it('that brings the channel back in time loses nothing', async () => {
    const stack = await stackFor(({ gateway }) => {
      gateway.videos.channelGrace = '10s';
    });
    const { id } = (await create(stack, { prompt: 'A kite [polls=10]' })).body;
    let kept: unknown;
    await stack.rewrite(({ channels }) => {
      kept = channels.channels['simulated-openai'];
      delete channels.channels['simulated-openai'];
    });
    await stack.gateway.reload();
    await delay(150);
    await stack.rewrite(({ channels }) => {
      channels.channels['simulated-openai'] = kept;
    });
    await stack.gateway.reload();
    expect(await ended(stack, id)).toMatchObject({ status: 'completed' });
  });
});

describe('a restart', () => {
  it('holds what open tasks may cost before a request is served, and finishes them', async () => {
    const stack = await stackFor();
    const before = await available(stack);
    const { id } = (await create(stack, { prompt: 'A kite [polls=40]' })).body;
    await stack.gateway.close();
    const again = await startGateway({
      folder: stack.folder,
      builtIns,
      log: silentLog,
      dataDirectory: stack.data,
      port: 0,
      environment: { SIMULATOR_URL: stack.simulator.url },
    });
    onTestFinished(() => again.close());
    const next: Stack = { ...stack, gateway: again, base: `${again.url}/v1`, usage: () => usageOf(again) };
    expect(await available(next)).toBe(before - 200_000);
    expect(await ended(next, id)).toMatchObject({ status: 'completed', metadata: { storage: { status: 'ready' } } });
    expect(await available(next)).toBe(before - 200_000);
    expect(await next.usage()).toMatchObject([{ quota: 200_000 }]);
  });

  const usageOf = async ({ ledger }: Stack['gateway']) => {
    await ledger.flush();
    return ledger.accounts.usage({ limit: 100 });
  };
});

/** A Veo channel on a vendor of the test's own. */
async function veoStack(vendor: OwnVendor, edit?: (documents: Documents) => void): Promise<Stack> {
  onTestFinished(() => vendor.close());
  return stackFor((documents) => {
    documents.channels.channels['simulated-gemini'].baseUrl = `${vendor.origin}/v1beta`;
    documents.channels.channels['simulated-gemini'].credentials = ['the-secret'];
    edit?.(documents);
  });
}

const operation = 'models/veo/operations/op1';
type Serve = (request: IncomingMessage, response: ServerResponse, origin: string) => void;

/** Accepts everything, is done at once, and names this address. */
const veo =
  (uri: (origin: string) => string, file: Serve): Serve =>
  (request, response, origin) => {
    if (request.method === 'POST') return json(response, { name: operation });
    if (request.url === `/v1beta/${operation}`) {
      const generatedSamples = [{ video: { uri: uri(origin) } }];
      return json(response, { name: operation, done: true, response: { generateVideoResponse: { generatedSamples } } });
    }
    file(request, response, origin);
  };

describe('2.11 a file that only the key opens', () => {
  it('is fetched with it, over redirects of the channel’s own origin', async () => {
    const vendor = await startVendor(
      veo(
        (origin) => `${origin}/files/1?alt=media`,
        (request, response, origin) => {
          if (request.url?.startsWith('/files/')) response.writeHead(302, { location: `${origin}/stored/1` }).end();
          else response.end(smallMp4());
        },
      ),
    );
    const stack = await veoStack(vendor);
    const { id } = (await create(stack, { model: 'demo-video-veo' })).body;
    expect((await ended(stack, id)).metadata.storage.status).toBe('ready');
    expect(vendor.received.map(({ key }) => key)).toEqual(vendor.received.map(() => 'the-secret'));
    expect(vendor.received.at(-1)!.line).toBe('GET /stored/1');
  });

  it('takes no key and no request to another origin that is not public', async () => {
    const house = await startVendor((_request, response) => response.end(smallMp4()));
    onTestFinished(() => house.close());
    const vendor = await startVendor(
      veo(
        (origin) => `${origin}/files/1`,
        (_request, response) => response.writeHead(302, { location: `${house.origin}/inside` }).end(),
      ),
    );
    const stack = await veoStack(vendor);
    const before = await available(stack);
    const { id } = (await create(stack, { model: 'demo-video-veo' })).body;
    expect((await ended(stack, id)).metadata.storage.status).toBe('failed');
    expect(house.received).toEqual([]);
    expect(await available(stack)).toBe(before);
  });

  it.each([
    'http://169.254.169.254/latest/meta-data',
    'http://localhost:1/',
    'file:///etc/passwd',
    'http://[::1]/',
    'http://user:password@127.0.0.1/',
  ])('at %s is not asked for', async (uri) => {
    const vendor = await startVendor(
      veo(
        () => uri,
        (_request, response) => response.end(),
      ),
    );
    const stack = await veoStack(vendor);
    const { id } = (await create(stack, { model: 'demo-video-veo' })).body;
    const video = await ended(stack, id);
    expect(video.metadata.storage.status).toBe('failed');
    expect(JSON.stringify(video)).not.toContain(uri);
  });
});

describe('2.11 a file without an announced length', () => {
  it('is stored as it came', async () => {
    const vendor = await startVendor(
      veo(
        (origin) => `${origin}/files/1`,
        (_request, response) => {
          const whole = smallMp4(50_000);
          for (let at = 0; at < whole.length; at += 1000) response.write(whole.subarray(at, at + 1000));
          response.end();
        },
      ),
    );
    const stack = await veoStack(vendor);
    const { id } = (await create(stack, { model: 'demo-video-veo' })).body;
    const { metadata } = await ended(stack, id);
    expect(metadata.storage).toMatchObject({ status: 'ready', bytes: smallMp4(50_000).length });
    expect(Buffer.from(await (await fetch(metadata.url)).arrayBuffer()).equals(smallMp4(50_000))).toBe(true);
  });

  it('and without an end is given up at the largest size', async () => {
    const vendor = await startVendor(
      veo(
        (origin) => `${origin}/files/1`,
        (_request, response) => {
          response.write(smallMp4().subarray(0, 500));
          const more = () => {
            while (!response.destroyed && response.write(Buffer.alloc(64 * 1024)));
          };
          response.on('drain', more);
          more();
        },
      ),
    );
    const stack = await veoStack(vendor, ({ gateway }) => {
      gateway.videos.maximumBytes = '1mb';
      gateway.videos.storeAttempts = 2;
    });
    const { id } = (await create(stack, { model: 'demo-video-veo' })).body;
    expect((await ended(stack, id)).metadata.storage.status).toBe('failed');
    expect(await readdir(join(stack.data, 'incoming-videos'))).toEqual([]);
  });

  it('of 200 MB is not held in memory', async () => {
    const megabyte = Buffer.alloc(1024 * 1024);
    const head = smallMp4(0).subarray(0, 20);
    const vendor = await startVendor(
      veo(
        (origin) => `${origin}/files/1`,
        (_request, response) => {
          response.write(head);
          let left = 200;
          const more = () => {
            while (left > 0) {
              left--;
              if (!response.write(megabyte)) return;
            }
            response.end();
          };
          response.on('drain', more);
          more();
        },
      ),
    );
    const stack = await veoStack(vendor, ({ channels }) => {
      channels.channels['simulated-gemini'].timeouts = { connect: '1s', firstByte: '5s', idle: '5s' };
    });
    let most = 0;
    const before = process.memoryUsage().rss;
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss - before);
    }, 10);
    const { id } = (await create(stack, { model: 'demo-video-veo' })).body;
    const { metadata } = await until(stack, id, ({ metadata }) => metadata.storage.status === 'ready', 30_000);
    clearInterval(watch);
    expect(metadata.storage.bytes).toBe(200 * 1024 * 1024 + 20);
    expect(most).toBeLessThan(100 * 1024 * 1024);
  }, 40_000);
});

describe('8 a vendor has accepted it', () => {
  it('8 what the database says afterwards changes nothing: the client gets its task, and it is charged once', async () => {
    const stack = await stackFor();
    const { tasks, accounts } = stack.gateway.ledger;
    const { find } = tasks;
    Object.assign(tasks, { find: () => Promise.reject(new Error('the database is busy')) });
    const { status, body } = await create(stack, { prompt: 'A kite [polls=1]' });
    Object.assign(tasks, { find });
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'queued', seconds: '4' });
    await ended(stack, body.id);
    expect(await stack.usage()).toMatchObject([{ quota: 200_000, outcome: 'ok' }]);
    expect(await available(stack)).toBe(50_000_000 - 200_000);
    expect(await accounts.audit()).toMatchObject({ ok: true });
  });
});
