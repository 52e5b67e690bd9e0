import { readdir } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { openAccounts } from '../../engine/ledger/index.ts';
import { type Documents, type Stack, startStack } from '../kit/stack.ts';
import { chatHead, hello, openRaw } from './http-raw.ts';

let stack: Stack;
const start = async (drain: string, edit?: (documents: Documents) => void) => {
  stack = await startStack({
    edit: (documents) => {
      documents.gateway.drain = { timeout: drain };
      edit?.(documents);
    },
  });
};
afterEach(() => stack.close());

const streamed = (content: string) =>
  stack.post('/chat/completions', { model: 'demo-chat', stream: true, messages: [{ role: 'user', content }] });

/** What the database says once the gateway has closed. */
async function closedBooks() {
  const accounts = await openAccounts(stack.data);
  try {
    return { rows: await accounts.usage({ limit: 1000 }), audit: await accounts.audit() };
  } finally {
    await accounts.close();
  }
}

describe('3 shutdown', () => {
  it('3 running streams end within the drain timeout, and are charged', async () => {
    await start('10s');
    const streams = await Promise.all(Array.from({ length: 5 }, () => streamed('Hello [chunks=10][delay=30]')));
    const texts = Promise.all(streams.map((stream) => stream.text()));
    await stack.gateway.close();
    for (const text of await texts) expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    const { rows, audit } = await closedBooks();
    expect(rows.map((row) => row.outcome)).toEqual(Array(5).fill('ok'));
    expect(audit.ok).toBe(true);
  });

  it('3 so do requests that began before a reload', async () => {
    await start('10s');
    const stream = await streamed('Hello [chunks=15][delay=30]');
    await stack.gateway.reload();
    await stack.gateway.reload();
    const text = stream.text();
    await stack.gateway.close();
    expect((await text).endsWith('data: [DONE]\n\n')).toBe(true);
    expect((await closedBooks()).rows.map((row) => row.outcome)).toEqual(['ok']);
  });

  it('3 a gateway that stops takes no new configuration: nothing of it is left behind', async () => {
    await start('10s');
    const stream = await streamed('Hello [chunks=15][delay=30]');
    const text = stream.text();
    const closed = stack.gateway.close();
    // Once the watcher is closed, as a SIGHUP may come while the last requests end.
    await delay(100);
    const { configuration } = stack.gateway;
    await expect(stack.gateway.reload()).rejects.toThrow('The gateway is stopping.');
    expect((await text).endsWith('data: [DONE]\n\n')).toBe(true);
    await closed;
    await expect(stack.gateway.reload()).rejects.toThrow('The gateway is stopping.');
    expect(stack.gateway.configuration).toBe(configuration);
    expect(await readdir(stack.data)).not.toContain('active-configuration.json');
  });

  it('3 what lasts longer is cut and settled as aborted', async () => {
    await start('200ms');
    const stream = await streamed('Hello [chunks=1000][delay=20]');
    const text = stream.text().catch(() => 'cut');
    const waiting = stack.post('/images/generations', { model: 'alpha-image-1k', prompt: 'a fox' }).catch(() => null);
    const started = performance.now();
    await stack.gateway.close();
    expect(performance.now() - started).toBeLessThan(3_000);
    expect(await text).not.toContain('[DONE]');
    await waiting;
    const { rows, audit } = await closedBooks();
    const row = rows.find((one) => one.model === 'demo-chat');
    expect(row).toMatchObject({ outcome: 'aborted', usageSource: 'estimated' });
    expect(row?.quota).toBeGreaterThan(0);
    expect(audit.ok).toBe(true);
  });

  it('3 also where the channel would go on without its client', async () => {
    await start('100ms', ({ channels }) => {
      for (const name of ['simulated-openai', 'simulated-openai-spare']) channels.channels[name].onAbort = 'finish';
    });
    const stream = await streamed('Hello [chunks=1000][delay=20]');
    const text = stream.text().catch(() => 'cut');
    await delay(50);
    await stack.gateway.close();
    await text;
    const { rows, audit } = await closedBooks();
    expect(rows).toHaveLength(1);
    expect(rows[0]?.outcome).not.toBe('ok');
    expect(rows[0]?.quota).toBeGreaterThan(0);
    expect(audit.ok).toBe(true);
  });

  it('3 meanwhile a kept-alive connection is told 503 shutting_down, and /readyz says so', async () => {
    await start('10s');
    const stream = await streamed('Hello [chunks=20][delay=40]');
    const text = stream.text();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = (path: string) =>
      new Promise<{ status: number; body: string }>((resolve, reject) => {
        const outgoing = request(`${stack.gateway.url}${path}`, {
          agent,
          headers: { authorization: `Bearer ${stack.key}` },
        });
        outgoing.on('error', reject);
        outgoing.on('response', (response) => {
          let body = '';
          response.on('data', (chunk) => (body += chunk));
          response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
        });
        outgoing.end();
      });
    expect((await ask('/v1/models')).status).toBe(200);
    const closing = stack.gateway.close();
    const refused = await ask('/v1/models');
    expect(refused.status).toBe(503);
    expect(refused.body).toContain('shutting_down');
    expect((await ask('/readyz')).status).toBe(503);
    expect((await ask('/healthz')).status).toBe(200);
    await expect(fetch(`${stack.gateway.url}/healthz`)).rejects.toThrow();
    await closing;
    expect((await text).endsWith('data: [DONE]\n\n')).toBe(true);
    agent.destroy();
  });

  it('3 connections that send nothing, or half a request, keep nobody waiting', async () => {
    await start('300ms');
    const idle = await Promise.all(Array.from({ length: 20 }, () => openRaw(stack.base)));
    for (const [index, connection] of idle.entries())
      if (index % 2 === 0) connection.send(chatHead(stack, [`content-length: ${hello.length}`]));
    await expect.poll(() => stack.gateway.snapshot.active).toBe(10);
    const started = performance.now();
    await stack.gateway.close();
    expect(performance.now() - started).toBeLessThan(2_000);
    expect((await closedBooks()).rows).toHaveLength(0);
  });

  it('3 closing twice, or during a reload, is closing once', async () => {
    await start('1s');
    const reloading = stack.gateway.reload();
    const started = performance.now();
    await Promise.all([stack.gateway.close(), stack.gateway.close()]);
    await reloading;
    expect(performance.now() - started).toBeLessThan(900);
  });
});
