import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';

let stack: Stack;
let client: OpenAI;

beforeAll(async () => {
  stack = await startStack();
  client = new OpenAI({ baseURL: stack.base, apiKey: stack.key, maxRetries: 0 });
});
afterAll(() => stack.close());

describe('the main job', () => {
  it('4.5 GET /v1/models lists what the key may use', async () => {
    const models = await client.models.list();
    expect(models.data.map((model) => model.id)).toContain('alpha-image-1k');
  });

  it('2.9 a chat completion, whole, with its usage billed', async () => {
    const reply = await client.chat.completions.create({
      model: 'demo-chat',
      messages: [{ role: 'user', content: 'Hello there' }],
    });
    expect(reply.choices[0]?.message).toMatchObject({
      role: 'assistant',
      content: expect.stringContaining('Hello there'),
    });
    const [row] = await stack.usage();
    expect(row).toMatchObject({
      endpoint: '/v1/chat/completions',
      outcome: 'ok',
      outputTokens: reply.usage?.completion_tokens,
      usageSource: 'measured',
    });
  });

  it.each(['demo-chat', 'demo-claude', 'demo-gemini'])(
    '2.8 %s: system, user and assistant messages, max_tokens bounds the answer; 2.9 its choices and usage',
    async (model) => {
      const reply = await client.chat.completions.create({
        model,
        max_tokens: 3,
        temperature: 0.5,
        stream: false,
        messages: [
          { role: 'system', content: 'Be short.' },
          { role: 'user', content: 'Hello' },
          { role: 'assistant', content: 'Hi.' },
          { role: 'user', content: 'Tell me all' },
        ],
      });
      expect(reply.choices).toMatchObject([
        { index: 0, finish_reason: 'length', message: { role: 'assistant', content: 'You said: Te' } },
      ]);
      const { prompt_tokens: input, completion_tokens: output, total_tokens: total } = reply.usage!;
      expect([output, total]).toEqual([3, input + 3]);
      expect((await stack.usage())[0]).toMatchObject({ model, inputTokens: input, outputTokens: 3, outcome: 'ok' });
    },
  );

  it('4.4 another model needs another name and nothing else, whatever its vendor speaks', async () => {
    const said: string[] = [];
    for (const model of ['demo-chat', 'demo-reasoner', 'demo-claude', 'demo-gemini']) {
      const reply = await client.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hello' }] });
      said.push(reply.choices[0]?.message.content ?? '');
    }
    expect(new Set(said).size).toBe(1);
    expect(said[0]).toContain('Hello');
    expect(stack.simulator.received.slice(-4).map(({ vendor }) => vendor)).toEqual([
      'openai',
      'openai',
      'anthropic',
      'gemini',
    ]);
  });

  it('4.4 a streamed chat ends with [DONE] and hides the usage nobody asked for', async () => {
    const response = await stack.post('/chat/completions', {
      model: 'demo-chat',
      stream: true,
      messages: [{ role: 'user', content: 'Hello' }],
    });
    const text = await response.text();
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(text).not.toContain('"usage":{');
    const [row] = await stack.usage();
    expect(row).toMatchObject({ outcome: 'ok', usageSource: 'measured' });
    expect(row?.outputTokens).toBeGreaterThan(0);
  });

  it.each(['alpha-image-1k', 'beta-3-pro-image', 'gamma-imagine-image'])(
    '4.2 %s answers a signed URL to a stored image',
    async (model) => {
      const reply = await client.images.generate({ model, prompt: 'a fox [bytes=20000]' });
      const url = reply.data?.[0]?.url;
      expect(url).toContain('/files/images/');
      const image = await fetch(url as string);
      expect(image.status).toBe(200);
      expect(image.headers.get('content-type')).toMatch(/^image\//);
      const [row] = await stack.usage();
      expect(row).toMatchObject({ model, images: 1, outcome: 'ok' });
    },
  );

  it('8 the audit holds', async () => {
    await stack.usage();
    expect(await stack.gateway.ledger.accounts.audit()).toMatchObject({ ok: true });
  });
});
