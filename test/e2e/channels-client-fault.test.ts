/** What a client writes must not put a channel or a credential to rest: others use it too (spec 5, 7). */
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { answerJson, expectError, type FakeVendor, generate, onlyChannel, startVendor } from './images-kit.ts';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
});
beforeEach(() => stack.simulator.reset());
afterAll(() => stack.close());

const root = () => stack.base.replace(/\/v1$/, '');
const native = (path: string, body: object) =>
  fetch(`${root()}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const message = { role: 'user', content: 'Hello' };
const chat = (body: object) => stack.post('/chat/completions', { messages: [message], ...body });
const contents = [{ role: 'user', parts: [{ text: 'Hello' }] }];
const gemini = (body: object) => native('/v1beta/models/demo-gemini:generateContent', { contents, ...body });
const claude = (body: object) =>
  native('/v1/messages', { model: 'demo-claude', max_tokens: 9, messages: [message], ...body });

/** The sentence of a dead account, where the vendor's own error quotes it. */
const quoted: [string, () => Promise<Response>, () => Promise<Response>][] = [
  [
    'OpenAI, chat',
    () => chat({ model: 'demo-chat', reasoning_effort: 'Incorrect API key provided' }),
    () => chat({ model: 'demo-chat' }),
  ],
  [
    'OpenAI, images',
    () => generate(stack, { model: 'alpha-image-1k', output_format: 'Incorrect API key provided' }),
    () => generate(stack, { model: 'alpha-image-1k' }),
  ],
  ['Gemini', () => gemini({ generationConfig: { mediaResolution: 'API key not valid' } }), () => gemini({})],
  ['Gemini, billing', () => gemini({ generationConfig: { mediaResolution: 'enable billing' } }), () => gemini({})],
  [
    'Anthropic',
    () => claude({ messages: [{ role: 'user', content: [{ type: 'credit balance is too low' }] }] }),
    () => claude({}),
  ],
  ['Anthropic, unknown member', () => claude({ 'this organization has been disabled': 1 }), () => claude({})],
  ['Anthropic, two lines', () => claude({ 'Your credit balance is too low.\n': 1 }), () => claude({})],
];

describe('5 a client that writes what a vendor says of a bad credential', () => {
  it.each(quoted)('%s: 400 for this client, and the channel serves on', async (_name, ask, others) => {
    for (let index = 0; index < 4; index++) expect((await ask()).status).toBe(400);
    expect((await others()).status).toBe(200);
  });
});

describe('7 what is the client’s own doing', () => {
  async function withVendor(
    body: object,
    status: number,
    test: (own: Stack, vendor: FakeVendor) => Promise<void>,
    channel: { vendor: string; models: Record<string, string> } = {
      vendor: 'gemini',
      models: { 'beta-3-pro-image': 'image', 'demo-gemini': 'text' },
    },
  ) {
    const vendor = await startVendor((_request, response) => answerJson(response, body, status));
    const own = await startStack({
      edit: (documents) =>
        onlyChannel(documents, 'only', {
          ...channel,
          baseUrl: `${vendor.url}/v1beta`,
        }),
    });
    await test(own, vendor);
    await own.close();
    await vendor.close();
  }

  it('a prompt that asks for no picture does not make the channel rest', async () => {
    const words = { candidates: [{ content: { parts: [{ text: 'A poem.' }] }, finishReason: 'STOP' }] };
    await withVendor(words, 200, async (own, vendor) => {
      for (let index = 0; index < 5; index++)
        await expectError(await generate(own, { model: 'beta-3-pro-image' }), 502, 'upstream_no_image');
      expect(vendor.hits).toHaveLength(5);
    });
  });

  it('a file that is not there is no fault of the credential', async () => {
    const text = 'You do not have permission to access the File abc or it may not exist.';
    const error = { error: { code: 403, message: text, status: 'PERMISSION_DENIED' } };
    await withVendor(error, 403, async (own, vendor) => {
      for (let index = 0; index < 3; index++) {
        const answer = await own.post('/chat/completions', { model: 'demo-gemini', messages: [message] });
        expect(answer.status).toBe(403);
      }
      expect(vendor.hits).toHaveLength(3);
    });
  });

  it('a conversation that is longer than the account may send is 413 for this client, and no rest', async () => {
    const told = { type: 'rate_limit_error', message: 'Extra usage is required for long context requests.' };
    await withVendor(
      { type: 'error', error: told },
      429,
      async (own, vendor) => {
        for (let index = 0; index < 3; index++) {
          const answer = await own.post('/chat/completions', { model: 'demo-claude', messages: [message] });
          expect(answer.status).toBe(413);
        }
        expect(vendor.hits).toHaveLength(3);
      },
      { vendor: 'anthropic', models: { 'demo-claude': 'claude' } },
    );
  });
});

describe('8 no vendor that overlooks the case reads another model than the billed one', () => {
  it.each([
    ['/chat/completions', { messages: [message] }],
    ['/completions', { prompt: 'Hi' }],
    ['/responses', { input: 'Hi' }],
    ['/messages', { messages: [message], max_tokens: 9 }],
  ])('8 %s', async (path, body) => {
    for (const name of ['Model', 'MODEL', 'm\u006fdeL']) {
      const answer = await stack.post(path, { model: 'demo-chat', [name]: 'dear', ...body });
      expect(answer.status).toBe(400);
      expect(await answer.text()).toContain('are one parameter');
    }
    expect(stack.simulator.received).toHaveLength(0);
  });
});

it('7 a vendor that breaks a stream off while its client reads slowly is not blamed', async () => {
  const answers: ServerResponse[] = [];
  let endless = true;
  const event = `data: {"choices":[{"index":0,"delta":{"content":"${'word '.repeat(12_000)}"}}]}\n\n`;
  const vendor = await startVendor((_request, response) => {
    response.setHeader('content-type', 'text/event-stream');
    if (!endless) return void response.end(`${event}data: [DONE]\n\n`);
    answers.push(response);
    const send = (): void => {
      while (!response.destroyed && response.write(event));
    };
    response.on('drain', send);
    send();
  });
  const own = await startStack({
    edit: (documents) =>
      onlyChannel(documents, 'only', {
        vendor: 'openai',
        baseUrl: `${vendor.url}/v1`,
        models: { 'demo-chat': 'gpt' },
        cooldown: { failures: 1, first: '1m', longest: '1m' },
      }),
  });
  const ask = () => own.post('/chat/completions', { model: 'demo-chat', stream: true, messages: [message] });
  const { body } = await ask();
  // Nobody reads: all buffers fill, and the vendor gives up.
  await expect.poll(() => answers[0]!.writableLength).toBeGreaterThan(0);
  await delay(300);
  answers[0]!.destroy();
  expect(await new Response(body).text()).toContain('"error"');
  await expect.poll(() => own.gateway.snapshot.active).toBe(0);
  endless = false;
  const next = await ask();
  expect(next.status).toBe(200);
  await next.text();
  await own.close();
  await vendor.close();
});
