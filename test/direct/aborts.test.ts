import { afterEach, describe, expect, it } from 'vitest';
import { type Stack, type StackOptions, startStack } from '../kit/stack.ts';
import { formOf, lastRow, until, wavFile } from './support.ts';

const speech = (input: string, fields: object = {}) =>
  JSON.stringify({ model: 'demo-tts', voice: 'alloy', input, ...fields });

const onAbort =
  (value: string): StackOptions['edit'] =>
  ({ channels }) => {
    for (const name of ['simulated-openai', 'simulated-openai-spare']) channels.channels[name].onAbort = value;
  };

describe('8 a client that leaves', () => {
  let stack: Stack;
  afterEach(() => stack.close());

  /** Asks, reads `chunks` pieces and leaves. */
  const leaveAfter = async (path: string, body: string | FormData, chunks: number): Promise<void> => {
    const leaving = new AbortController();
    const asking = fetch(`${stack.base}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${stack.key}`,
        ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
      },
      body,
      signal: leaving.signal,
    });
    if (chunks === 0) {
      await until(() => stack.simulator.received.length === 1);
      leaving.abort();
      await expect(asking).rejects.toThrow();
    } else {
      const reader = (await asking).body!.getReader();
      for (let read = 0; read < chunks; read++) await reader.read();
      leaving.abort();
    }
    await until(() => stack.gateway.snapshot.active === 0);
  };

  it('before the first byte of sound owes nothing, and the vendor is let go', async () => {
    stack = await startStack();
    stack.simulator.faults.add({ match: {}, fault: { latency: 3000 } });
    await leaveAfter('/audio/speech', speech('Hello'), 0);
    expect(await lastRow(stack)).toMatchObject({ outcome: 'aborted', status: 499, quota: 0, characters: 0 });
    await until(() => stack.simulator.received[0]!.aborted);
  });

  it.each([1, 5])('after %i pieces of sound owes what was to be spoken', async (pieces) => {
    stack = await startStack();
    const input = 'Hello [chunks=100][delay=20][bytes=100000]';
    await leaveAfter('/audio/speech', speech(input), pieces);
    expect(await lastRow(stack)).toMatchObject({ outcome: 'aborted', characters: input.length, attempts: 1 });
    await until(() => stack.simulator.received[0]!.aborted);
  });

  it.each([1, 3])('after %i events of a transcription owes an estimate', async (events) => {
    stack = await startStack();
    const file = wavFile(10, 'a [chunks=50][delay=20].wav');
    await leaveAfter('/audio/transcriptions', formOf({ model: 'demo-transcribe', stream: 'true', file }), events);
    const row = await lastRow(stack);
    expect(row).toMatchObject({
      outcome: 'aborted',
      inputTokens: 100,
      audioInputTokens: 100,
      usageSource: 'estimated',
    });
    expect(row.quota).toBeGreaterThan(0);
  });

  it('of embeddings owes nothing', async () => {
    stack = await startStack();
    stack.simulator.faults.add({ match: {}, fault: { latency: 3000 } });
    await leaveAfter('/embeddings', JSON.stringify({ model: 'demo-embedding', input: 'text' }), 0);
    expect(await lastRow(stack)).toMatchObject({ outcome: 'aborted', quota: 0 });
  });

  it('with `drain` the vendor ends its work, and that is charged', async () => {
    stack = await startStack({ edit: onAbort('drain')! });
    stack.simulator.faults.add({ match: {}, fault: { latency: 300 } });
    const body = JSON.stringify({ model: 'demo-embedding', input: 'x'.repeat(20_000) });
    await leaveAfter('/embeddings', body, 0);
    const row = await lastRow(stack);
    expect(row).toMatchObject({ outcome: 'aborted', inputTokens: 5000, quota: 50, usageSource: 'measured' });
    expect(stack.simulator.received[0]!.aborted).toBe(false);
  });

  it('with `finish` whoever asks again gets the sound', async () => {
    stack = await startStack({ edit: onAbort('finish')! });
    stack.simulator.faults.add({ match: {}, fault: { latency: 300 } });
    const headers = {
      authorization: `Bearer ${stack.key}`,
      'content-type': 'application/json',
      'idempotency-key': 'k',
    };
    const ask = (signal?: AbortSignal) =>
      fetch(`${stack.base}/audio/speech`, {
        method: 'POST',
        headers,
        body: speech('Hello [bytes=90000]'),
        ...(signal === undefined ? {} : { signal }),
      });
    const leaving = new AbortController();
    const asking = ask(leaving.signal);
    await until(() => stack.simulator.received.length === 1);
    leaving.abort();
    await expect(asking).rejects.toThrow();
    await until(() => stack.gateway.snapshot.active === 0);
    const again = await ask();
    expect((await again.arrayBuffer()).byteLength).toBe(90_000);
    expect(again.headers.get('content-type')).toBe('audio/mpeg');
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(stack.simulator.received).toHaveLength(1);
    expect((await stack.usage()).map(({ quota }) => quota).filter((quota) => quota > 0)).toHaveLength(1);
  });
});

describe('8 the whole-request deadline', () => {
  it('cuts sound that goes on too long; what was spoken is owed', async () => {
    const stack = await startStack({
      edit({ routes }) {
        routes.routes.find(({ path }: { path: string }) => path === '/v1/audio/speech').timeout = '400ms';
      },
    });
    const answer = await fetch(`${stack.base}/audio/speech`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.key}`, 'content-type': 'application/json' },
      body: speech('Hello [chunks=100][delay=50][bytes=10000]'),
    });
    expect(answer.status).toBe(200);
    await expect(answer.arrayBuffer()).rejects.toThrow();
    expect(await lastRow(stack)).toMatchObject({ outcome: 'error', code: 'upstream_timeout', characters: 41 });
    await stack.close();
  });
});
