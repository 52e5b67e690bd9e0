import type { StatsFs } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { formOf, lastRow, postForm, wavFile } from './support.ts';

vi.mock('node:fs/promises', async (original) => {
  const module = await original<typeof import('node:fs/promises')>();
  return { ...module, statfs: vi.fn(module.statfs) };
});

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.close());

const transcribe = (seconds: number) =>
  postForm(stack, '/audio/transcriptions', formOf({ file: wavFile(seconds), model: 'demo-whisper' }));

it('8 uploads leave room on the disk, which the journal needs too', async () => {
  const sent = stack.simulator.received.length;
  vi.mocked(statfs).mockResolvedValue({ bavail: 100, bsize: 1024 * 1024 } as StatsFs);
  const answer = await transcribe(60);
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toBe('5');
  expect(await answer.json()).toMatchObject({ error: { code: 'overloaded' } });
  expect(stack.simulator.received).toHaveLength(sent);
  // What needs no disk goes on.
  expect((await transcribe(1)).status).toBe(200);
  vi.mocked(statfs).mockResolvedValue({ bavail: 1000, bsize: 1024 * 1024 } as StatsFs);
  await expect.poll(async () => (await transcribe(60)).status).toBe(200);
  expect(await lastRow(stack)).toMatchObject({ seconds: 60 });
});
