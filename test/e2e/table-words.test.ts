import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.close());

const words = ['constructor', 'toString', '__proto__', 'hasOwnProperty'];

it.each(words)('2.8 the effort `%s` is one that nobody knows: vendors get their largest', async (word) => {
  const thinking = async (model: string) => {
    stack.simulator.reset();
    const messages = [{ role: 'user', content: 'Hi' }];
    const answer = await stack.post('/chat/completions', { model, messages, reasoning_effort: word });
    await answer.text();
    const [received] = stack.simulator.received;
    return JSON.parse(String(received?.raw));
  };
  expect((await thinking('demo-gemini')).generationConfig.thinkingConfig).toMatchObject({ thinkingLevel: 'HIGH' });
  const { thinking: asked, max_tokens: most } = await thinking('demo-claude-small');
  expect(asked).toMatchObject({ type: 'enabled', budget_tokens: expect.any(Number) });
  expect(most).toBeGreaterThan(asked.budget_tokens);
});
