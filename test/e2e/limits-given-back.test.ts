/** A request that one limit refuses is not counted by the others. */
import { expect, it } from 'vitest';
import { startStack } from '../kit/stack.ts';

it('C what a later limit refuses takes nothing of the earlier ones', async () => {
  const stack = await startStack({
    edit({ models }) {
      models.models['demo-chat'].limits = { requestsPerMinute: 1 };
    },
  });
  const key = await stack.createKey({ limits: { requestsPerMinute: 3, tokensPerMinute: 1000 } });
  const ask = async (model: string) => {
    const messages = [{ role: 'user', content: 'x'.repeat(200) }];
    const answer = await stack.post('/chat/completions', { model, messages }, { authorization: `Bearer ${key}` });
    await answer.text();
    return answer.status;
  };
  expect(await ask('demo-chat')).toBe(200);
  for (let index = 0; index < 20; index++) expect(await ask('demo-chat')).toBe(429);
  expect(await ask('demo-reasoner')).toBe(200);
  expect(await ask('demo-reasoner')).toBe(200);
  expect(await ask('demo-reasoner')).toBe(429);
  await stack.close();
});
