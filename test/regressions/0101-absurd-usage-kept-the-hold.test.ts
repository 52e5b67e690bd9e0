import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { expectAtRest } from '../e2e/http-raw.ts';
import { startStack } from '../kit/stack.ts';

const usages = {
  'more than can be priced': { prompt_tokens: 9_007_199_254_740_991, completion_tokens: 9_007_199_254_740_991 },
  negative: { prompt_tokens: -5, completion_tokens: -5 },
  'half tokens': { prompt_tokens: 1.5, completion_tokens: 0.5 },
  text: { prompt_tokens: '5', completion_tokens: '5' },
};

it.each(Object.entries(usages))(
  'D a vendor that reports usage that is %s leaves nothing held',
  async (_name, usage) => {
    const vendor = createServer((_request, response) => {
      const message = { role: 'assistant', content: 'Hello', refusal: null };
      const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }];
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ id: 'x', object: 'chat.completion', created: 1, model: 'x', choices, usage }));
    });
    await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve));
    const stack = await startStack({
      edit: ({ channels, models }) => {
        const { 'simulated-openai': channel } = channels.channels;
        channels.channels = {
          only: { ...channel, baseUrl: `http://127.0.0.1:${(vendor.address() as AddressInfo).port}/v1` },
        };
        channels.channels.only.models = { 'demo-chat': 'x' };
        models.models = { 'demo-chat': { ...models.models['demo-chat'], price: { input: '10', output: '30' } } };
      },
    });
    try {
      const response = await stack.post('/chat/completions', {
        model: 'demo-chat',
        max_tokens: 100,
        messages: [{ role: 'user', content: 'Hello' }],
      });
      expect(response.status).toBe(200);
      await response.text();
      await expectAtRest(stack);
      const [row] = await stack.usage();
      expect(row?.quota).toBeGreaterThanOrEqual(0);
      expect(row?.quota).toBeLessThan(50_000_000);
    } finally {
      await stack.close();
      vendor.close();
    }
  },
);
