import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { expectAtRest } from './http-raw.ts';

let stack: Stack;

beforeEach(async () => {
  stack = await startStack();
  // No segment is open before the first charge: it cannot be made.
  await rm(join(stack.data, 'journal'), { recursive: true });
});
afterEach(() => stack.close());

const repair = () => mkdir(join(stack.data, 'journal'));
const chat = (more: object = {}) =>
  stack.post(
    '/chat/completions',
    { model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }], ...more },
    { 'idempotency-key': 'once' },
  );

describe('D where the journal cannot be written', () => {
  it('D a whole answer is not given, nothing is charged, and it is not kept for repetition', async () => {
    const response = await chat();
    expect(response.status).toBe(500);
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect(error).toMatchObject({ code: 'internal_error' });
    expect(error.message).toContain('Nothing was charged');
    await expectAtRest(stack, 0);
    await repair();
    const again = await chat();
    expect(again.status).toBe(200);
    expect(again.headers.get('idempotent-replayed')).toBeNull();
    await again.text();
    await expectAtRest(stack, 1);
  });

  it('D a stream ends with the error and without [DONE]', async () => {
    const text = await (await chat({ stream: true })).text();
    expect(text).toContain('"code":"internal_error"');
    expect(text).not.toContain('[DONE]');
    await expectAtRest(stack, 0);
    await repair();
    const again = await (await chat({ stream: true })).text();
    expect(again.endsWith('data: [DONE]\n\n')).toBe(true);
    await expectAtRest(stack, 1);
  });

  it('D an image is not given away', async () => {
    const ask = () => stack.post('/images/generations', { model: 'alpha-image-1k', prompt: 'a fox' });
    expect((await ask()).status).toBe(500);
    await expectAtRest(stack, 0);
    await repair();
    expect((await ask()).status).toBe(200);
    await expectAtRest(stack, 1);
  });

  it('D a refused request is still refused with its own error', async () => {
    const response = await chat({ model: 'demo-embedding' });
    expect(response.status).toBe(400);
    await expectAtRest(stack, 0);
  });
});
