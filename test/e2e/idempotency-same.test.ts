/** Which requests are the same one: files by what they are for, native routes by their path. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { expectError, formOf, jsonOf, png, sendForm } from './images-kit.ts';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.close());

it('C a mask is another body than one more reference image: 409', async () => {
  const fields = { model: 'alpha-image-1k', prompt: 'p' };
  const form = (second: string) =>
    formOf(fields, [
      { field: 'image', bytes: png(1) },
      { field: second, bytes: png(2) },
    ]);
  const headers = { 'idempotency-key': 'mask' };
  expect((await sendForm(stack, form('image'), headers)).status).toBe(200);
  await expectError(await sendForm(stack, form('mask'), headers), 409, 'idempotency_conflict');
});

it('C where the path names the model, another model never gets the first one’s answer', async () => {
  const ask = (call: string) =>
    fetch(`${stack.base.replace(/\/v1$/, '')}/v1beta/models/${call}`, {
      method: 'POST',
      headers: { 'x-goog-api-key': stack.key, 'content-type': 'application/json', 'idempotency-key': 'path' },
      body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] }),
    });
  expect((await jsonOf(await ask('demo-gemini:generateContent'))).modelVersion).toContain('gemini');
  const other = await ask('demo-chat:generateContent');
  expect(other.headers.get('idempotent-replayed')).toBeNull();
  expect((await jsonOf(other)).modelVersion).toContain('gpt');
  const again = await ask('demo-gemini:generateContent');
  expect(again.headers.get('idempotent-replayed')).toBe('true');
});

it('C a list and a stream of the same answer are two requests: 409', async () => {
  const ask = (query: string) =>
    fetch(`${stack.base.replace(/\/v1$/, '')}/v1beta/models/demo-gemini:streamGenerateContent${query}`, {
      method: 'POST',
      headers: { 'x-goog-api-key': stack.key, 'content-type': 'application/json', 'idempotency-key': 'form' },
      body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] }),
    });
  expect((await ask('?alt=sse')).status).toBe(200);
  expect((await ask('')).status).toBe(409);
});
