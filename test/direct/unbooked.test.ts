import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { expectAtRest } from '../e2e/http-raw.ts';
import { type Stack, startStack } from '../kit/stack.ts';
import { formOf, payloads, postForm, wavFile } from './support.ts';

let stack: Stack;

beforeEach(async () => {
  stack = await startStack();
  // No segment is open before the first charge: it cannot be made.
  await rm(join(stack.data, 'journal'), { recursive: true });
});
afterEach(() => stack.close());

const repair = () => mkdir(join(stack.data, 'journal'));

describe('D the end of an answer waits for the journal', () => {
  it('sound is cut, not ended', async () => {
    const ask = () => stack.post('/audio/speech', { model: 'demo-tts', voice: 'alloy', input: 'Hello [bytes=9000]' });
    await expect((await ask()).arrayBuffer()).rejects.toThrow();
    await expectAtRest(stack, 0);
    await repair();
    expect((await (await ask()).arrayBuffer()).byteLength).toBe(9000);
    await expectAtRest(stack, 1);
  });

  it.each([
    [
      'speech',
      () => stack.post('/audio/speech', { model: 'demo-tts-mini', voice: 'ash', input: 'Hi', stream_format: 'sse' }),
    ],
    [
      'transcription',
      () =>
        postForm(
          stack,
          '/audio/transcriptions',
          formOf({ model: 'demo-transcribe', stream: 'true', file: wavFile(1) }),
        ),
    ],
  ])('events of a %s end with the error and without their closing event', async (_name, ask) => {
    const text = await (await ask()).text();
    expect(JSON.parse(payloads(text).at(-1)!)).toHaveProperty('error.code', 'internal_error');
    expect(text).not.toMatch(/\.done"|\[DONE\]/);
    await expectAtRest(stack, 0);
    await repair();
    expect(await (await ask()).text()).toMatch(/\.done"/);
    await expectAtRest(stack, 1);
  });

  it('embeddings are not given away', async () => {
    const ask = () => stack.post('/embeddings', { model: 'demo-embedding', input: 'x' });
    expect((await ask()).status).toBe(500);
    await expectAtRest(stack, 0);
    await repair();
    expect((await ask()).status).toBe(200);
  });
});

describe('8 a balance that does not cover the estimate', () => {
  it('is refused before the vendor is asked, on every direct route that costs', async () => {
    const poor = await startStack({ balance: 1 });
    const file = wavFile(60);
    const answers = await Promise.all([
      poor.post('/embeddings', { model: 'demo-embedding', input: 'x'.repeat(10_000) }),
      poor.post('/rerank', { model: 'demo-rerank', query: 'a', documents: ['b'] }),
      poor.post('/audio/speech', { model: 'demo-tts', voice: 'alloy', input: 'Hello' }),
      postForm(poor, '/audio/transcriptions', formOf({ model: 'demo-whisper', file })),
      postForm(poor, '/audio/translations', formOf({ model: 'demo-whisper', file })),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([429, 429, 429, 429, 429]);
    for (const answer of answers) expect(await answer.json()).toMatchObject({ error: { code: 'insufficient_quota' } });
    expect(poor.simulator.received).toHaveLength(0);
    expect((await poor.post('/moderations', { input: 'free' })).status).toBe(200);
    await poor.close();
  });
});
