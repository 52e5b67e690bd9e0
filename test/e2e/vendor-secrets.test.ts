/** What a vendor says of its own accounts in an error that is told to the client. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { answerJson, expectError, type FakeVendor, generate, onlyChannel, startVendor } from './images-kit.ts';

let stack: Stack;
let vendor: FakeVendor;
let words = '';
let status = 400;

beforeAll(async () => {
  vendor = await startVendor((_request, response) =>
    answerJson(
      response,
      { error: { message: words, type: 'invalid_request_error', param: words, code: words } },
      status,
    ),
  );
  stack = await startStack({
    edit(documents) {
      documents.models.models['alpha-odd'] = documents.models.models['alpha-image-1k'];
      const models = { 'alpha-odd': 'gpt-image-2' };
      onlyChannel(documents, 'odd', { vendor: 'openai', baseUrl: vendor.url, models });
    },
  });
});
afterAll(async () => {
  await stack.close();
  await vendor.close();
});

it.each([400, 403, 404, 422])('7 a %i whose words hold a credential is told without it', async (given) => {
  status = given;
  for (const secret of [
    'sk-proj-abcDEF123456',
    'sk-ant-api03-abcdefgh',
    'xai-abcdefgh12345678',
    'key-abcdefgh12345678',
    'jina_abcdefgh12345678',
    'AIzaSyA1234567890abcdef',
    'Bearer abcdefgh.ijklmnop',
  ]) {
    words = `The account ${secret} may not draw this.`;
    const response = await generate(stack, { model: 'alpha-odd' });
    const text = await response.clone().text();
    expect(text).not.toContain(secret.replace('Bearer ', ''));
    expect(text).toContain('[redacted] may not draw this.');
    await expectError(response, given, given === 422 ? 'unprocessable' : 'vendor_refused_request');
  }
});

it('7 a vendor’s endless words with control characters are told in one bounded line', async () => {
  status = 400;
  words = `No.\r\n\u0000\u001b[31m${'x'.repeat(50_000)}`;
  const { message } = await expectError(await generate(stack, { model: 'alpha-odd' }), 400, 'vendor_refused_request');
  expect(message.length).toBeLessThan(1_200);
  expect(message).toMatch(/^[^\u0000-\u001f\u007f]*$/);
});
