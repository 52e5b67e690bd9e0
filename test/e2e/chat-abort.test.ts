/** A client that leaves, reads slowly, or waits too long. */
import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import type { Stack } from '../kit/stack.ts';
import {
  chatBody,
  chunk,
  done,
  errorOf,
  lastRow,
  openRaw,
  pause,
  payloads,
  type ScriptedVendor,
  spoken,
  startChannels,
  startVendor,
  streamError,
  usageChunk,
  waitFor,
} from './chat-support.ts';

let stack: Stack;
let vendor: ScriptedVendor | null = null;
afterEach(async () => {
  await stack.close();
  await vendor?.close();
  vendor = null;
});

/** What the first user may still spend: balance minus charges minus holds. */
async function available(): Promise<number> {
  await stack.gateway.ledger.flush();
  const hash = createHash('sha256').update(stack.key).digest('base64url');
  return (await stack.gateway.ledger.findKey(hash))!.account.available;
}
const credit = 50_000_000;
const received = () => stack.simulator.received[0]!;
/** `count` rows are in the usage log; the newest. */
const row = async (count = 1) =>
  (await waitFor(async () => ((await stack.usage()).length >= count ? stack.usage() : null)))[0]!;

const slow = chatBody('a b c d e f g h i j k l m n o p q r s t [chunks=20] [delay=40]', { stream: true });

describe('6.2 a client that leaves', () => {
  it.each([true, false])(
    '6.2 before the head, streamed: %s: the vendor is cancelled at once, nothing is charged',
    async (stream) => {
      stack = await startChannels({ main: { vendorModel: 'gpt-4.1-mini!latency=5000' } });
      const client = openRaw(stack, '/chat/completions', chatBody('hi', { stream }));
      await waitFor(() => stack.simulator.received[0]);
      expect(await available()).toBeLessThan(credit);
      const left = Date.now();
      client.leave();
      await waitFor(() => received().aborted);
      expect(Date.now() - left).toBeLessThan(1000);
      expect(await row()).toMatchObject({
        outcome: 'aborted',
        status: 499,
        quota: 0,
        outputTokens: 0,
        attempts: 1,
        firstByteMs: null,
      });
      expect(await available()).toBe(credit);
      expect(await stack.gateway.ledger.accounts.audit()).toMatchObject({ ok: true });
    },
  );

  it('6.2 in the middle, cancel: the vendor is cut off, what was said is estimated and charged', async () => {
    stack = await startChannels({ main: { onAbort: 'cancel' } });
    const client = openRaw(stack, '/chat/completions', slow);
    await waitFor(() => client.received().split('\n\n').length > 4);
    client.leave();
    await waitFor(() => received().aborted);
    expect(received().events).toBeLessThan(15);
    const aborted = await row();
    expect(aborted).toMatchObject({ outcome: 'aborted', status: 499, usageSource: 'estimated', channel: 'main' });
    expect(aborted.outputTokens).toBeGreaterThanOrEqual(4);
    expect(aborted.outputTokens).toBeLessThan(15);
    expect(aborted.quota).toBeGreaterThan(0);
    expect(await available()).toBe(credit - aborted.quota);
  });

  it.each(['drain', 'finish'])(
    '6.2 in the middle, %s: the vendor goes on to its end and the usage is measured',
    async (onAbort) => {
      stack = await startChannels({ main: { onAbort } });
      const client = openRaw(stack, '/chat/completions', slow);
      await waitFor(() => client.received().split('\n\n').length > 4);
      client.leave();
      const aborted = await row();
      expect(received().aborted).toBe(false);
      expect(aborted).toMatchObject({ outcome: 'aborted', status: 499, usageSource: 'measured', outputTokens: 17 });
      expect(await available()).toBe(credit - aborted.quota);
    },
  );

  it.each(['drain', 'finish'])('6.2 before the head, %s, streamed and whole: measured too', async (onAbort) => {
    stack = await startChannels({ main: { onAbort, vendorModel: 'gpt-4.1-mini!latency=150' } });
    for (const [index, stream] of [true, false].entries()) {
      const client = openRaw(stack, '/chat/completions', chatBody('hi', { stream }));
      await waitFor(() => stack.simulator.received[index]);
      client.leave();
      expect(await row(index + 1)).toMatchObject({
        outcome: 'aborted',
        usageSource: 'measured',
        inputTokens: 5,
        outputTokens: 8,
      });
    }
  });

  it('6.2 drain: a vendor that breaks after the client left is not asked again', async () => {
    stack = await startChannels({
      main: { onAbort: 'drain', vendorModel: 'gpt-4.1-mini!latency=150,status=500' },
      other: { priority: -1 },
    });
    const client = openRaw(stack, '/chat/completions', chatBody('hi'));
    await waitFor(() => stack.simulator.received[0]);
    client.leave();
    expect(await row()).toMatchObject({ outcome: 'aborted', attempts: 1, quota: 0 });
    expect(stack.simulator.received).toHaveLength(1);
  });

  it('6.2 the place of the concurrency limit is given back', async () => {
    stack = await startChannels({ main: { vendorModel: 'gpt-4.1-mini!latency=3000' } });
    const key = await stack.createKey({ limits: { concurrency: 1 } });
    for (let round = 0; round < 3; round++) {
      const client = openRaw(stack, '/chat/completions', chatBody('hi'), key);
      await waitFor(() => stack.simulator.received[round]);
      const refused = openRaw(stack, '/chat/completions', chatBody('hi'), key);
      expect(await refused.status).toBe(429);
      client.leave();
      await waitFor(() => stack.simulator.received[round]?.aborted);
      await waitFor(() => stack.gateway.snapshot.active === 0);
    }
  });

  it('6.2 a hundred clients that leave at any moment leave nothing behind', async () => {
    stack = await startChannels({ main: {} });
    const clients = Array.from({ length: 100 }, (_, index) => {
      const client = openRaw(stack, '/chat/completions', slow);
      setTimeout(() => client.leave(), (index * 7) % 500);
      return client;
    });
    await Promise.allSettled(clients.map(({ text }) => text));
    await waitFor(() => stack.gateway.snapshot.active === 0);
    const rows = await stack.usage();
    expect(rows.every(({ outcome }) => outcome === 'aborted')).toBe(true);
    expect(await available()).toBe(credit - rows.reduce((sum, { quota }) => sum + quota, 0));
    expect(await stack.gateway.ledger.accounts.audit()).toMatchObject({ ok: true });
    expect(stack.simulator.received.filter(({ aborted, status }) => !aborted && status !== 0)).toHaveLength(0);
  });
});

/** Writes a stream as fast as its reader lets it; counts what it got rid of. */
async function startFlood(bytes: number) {
  const state = { written: 0, closed: false };
  const piece = chunk('x'.repeat(10_000));
  vendor = await startVendor((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.on('close', () => {
      state.closed = true;
    });
    const push = (): void => {
      while (state.written < bytes) {
        state.written += piece.length;
        if (!response.write(piece)) {
          response.once('drain', push);
          return;
        }
      }
      response.end(chunk('', 'stop') + usageChunk(5, 6) + done);
    };
    push();
  });
  return state;
}
const flood = 150_000_000;

describe('6.2 a client that reads slowly', () => {
  it('6.2 pauses the vendor, memory stays bounded, and it gets everything when it reads on', async () => {
    const state = await startFlood(flood);
    stack = await startChannels({ main: { baseUrl: vendor!.baseUrl } });
    const client = openRaw(stack, '/chat/completions', chatBody('hi', { stream: true }));
    client.pause();
    await waitFor(() => state.written > 0);
    await pause(700);
    const stopped = state.written;
    await pause(700);
    expect(state.written).toBe(stopped);
    expect(stopped).toBeLessThan(30_000_000);
    client.resume();
    const text = await client.text;
    expect(text.endsWith(done)).toBe(true);
    expect(text.length).toBeGreaterThan(flood);
    expect(await row()).toMatchObject({ outcome: 'ok', usageSource: 'measured', outputTokens: 6 });
  });

  it('6.2 that leaves while the vendor is paused is drained to the end', async () => {
    const state = await startFlood(40_000_000);
    stack = await startChannels({ main: { baseUrl: vendor!.baseUrl, onAbort: 'drain' } });
    const client = openRaw(stack, '/chat/completions', chatBody('hi', { stream: true }));
    client.pause();
    await waitFor(() => state.written > 0);
    await pause(400);
    expect(state.written).toBeLessThan(40_000_000);
    client.leave();
    expect(await row()).toMatchObject({ outcome: 'aborted', usageSource: 'measured', outputTokens: 6 });
  });

  it('6.2 that leaves while the vendor is paused cancels it', async () => {
    const state = await startFlood(flood);
    stack = await startChannels({ main: { baseUrl: vendor!.baseUrl, onAbort: 'cancel' } });
    const client = openRaw(stack, '/chat/completions', chatBody('hi', { stream: true }));
    client.pause();
    await waitFor(() => state.written > 0);
    await pause(300);
    client.leave();
    await waitFor(() => state.closed);
    expect(await row()).toMatchObject({ outcome: 'aborted', usageSource: 'estimated' });
  });

  it('6.2 is not taken for a silent vendor', async () => {
    await startFlood(40_000_000);
    stack = await startChannels({ main: { baseUrl: vendor!.baseUrl, timeouts: { idle: '300ms' } } });
    const client = openRaw(stack, '/chat/completions', chatBody('hi', { stream: true }));
    client.pause();
    await pause(1500);
    client.resume();
    expect((await client.text).endsWith(done)).toBe(true);
  });
});

const withTimeout = (timeout: string) => (documents: { routes: { routes: { timeout: string }[] } }) => {
  documents.routes.routes[0]!.timeout = timeout;
};

describe('7 timeouts', () => {
  it.each([true, false])('7 the whole request, before an answer, streamed: %s: 504', async (stream) => {
    stack = await startChannels(
      { main: { vendorModel: 'gpt-4.1-mini!latency=10000' } },
      { edit: withTimeout('400ms') },
    );
    const response = await stack.post('/chat/completions', chatBody('hi', { stream }));
    expect(response.status).toBe(504);
    expect(await errorOf(response)).toMatchObject({ code: 'upstream_timeout' });
    await waitFor(() => received().aborted);
    expect(await row()).toMatchObject({ outcome: 'error', status: 504, code: 'upstream_timeout', quota: 0 });
    expect(await available()).toBe(credit);
  });

  it('7 the whole request, within a stream: the error comes in the stream, without [DONE]', async () => {
    stack = await startChannels({ main: {} }, { edit: withTimeout('700ms') });
    const response = await stack.post('/chat/completions', slow);
    const text = await response.text();
    expect(response.status).toBe(200);
    expect(streamError(text)).toMatchObject({ code: 'upstream_timeout', type: 'timeout_error' });
    expect(payloads(text)).not.toContain('[DONE]');
    await waitFor(() => received().aborted);
    const late = await row();
    expect(late).toMatchObject({ outcome: 'error', code: 'upstream_timeout', usageSource: 'estimated' });
    expect(late.outputTokens).toBeGreaterThan(3);
    expect(await available()).toBe(credit - late.quota);
  });

  it('7 the first byte: the next channel; alone: 504', async () => {
    const late = { vendorModel: 'gpt-4.1-mini!latency=10000', timeouts: { firstByte: '200ms' }, priority: 2 };
    stack = await startChannels({ late, good: {} });
    for (const stream of [true, false]) {
      const response = await stack.post('/chat/completions', chatBody('hi', { stream }));
      expect(response.status).toBe(200);
      await response.text();
    }
    expect(await row(2)).toMatchObject({ channel: 'good', attempts: 2 });
    await stack.rewrite(({ channels }) => {
      delete channels.channels.good;
    });
    await stack.gateway.reload();
    const alone = await stack.post('/chat/completions', chatBody('hi'));
    expect(alone.status).toBe(504);
    expect(await errorOf(alone)).toMatchObject({ code: 'upstream_timeout' });
  });

  it('7 a vendor that is slow but never silent is not cut off by the idle timeout', async () => {
    stack = await startChannels({ main: { timeouts: { idle: '250ms' } } });
    const response = await stack.post('/chat/completions', slow);
    expect(spoken(await response.text())).toContain('You said: a b c');
    expect(await lastRow(stack)).toMatchObject({ outcome: 'ok' });
  });
});
