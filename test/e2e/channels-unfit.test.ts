/** Channels whose protocol cannot say what a client asks for. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { setStreamChannels } from '../streams/pairs.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({
    edit(documents) {
      setStreamChannels(documents);
      const { channels } = documents.channels;
      // Responses know no penalties; chat does. The one that cannot is the first choice.
      documents.models.models.either = { family: 'chat', price: { input: '1', output: '1' } };
      channels['openai-responses-first'].models.either = 'gpt-4.1-mini';
      channels['openai-chat-second'].models.either = 'gpt-4.1-mini';
      documents.models.models.neither = { family: 'chat', price: { input: '1', output: '1' } };
      channels['openai-responses-first'].models.neither = 'gpt-4.1-mini';
      channels['openai-responses-second'].models.neither = 'gpt-4.1-mini';
    },
  });
});
afterAll(() => stack.close());
beforeEach(() => stack.simulator.reset());

const ask = (model: string, extra: object) =>
  stack.post('/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }], ...extra });

describe('4.2(1) a model behind vendors of different protocols', () => {
  it('7 what the first channel’s protocol cannot say is asked of the next, and speaks against nobody', async () => {
    for (let round = 0; round < 5; round++) expect((await ask('either', { presence_penalty: 1 })).status).toBe(200);
    expect(stack.simulator.received.map(({ path }) => path)).toEqual(new Array(5).fill('/openai/v1/chat/completions'));
    expect((await stack.usage())[0]).toMatchObject({ channel: 'openai-chat-second', attempts: 1, outcome: 'ok' });
    expect((await ask('either', {})).status).toBe(200);
    expect((await stack.usage())[0]).toMatchObject({ channel: 'openai-responses-first' });
  });

  it('7 where no channel can say it: 400 that names the field, and no vendor is asked', async () => {
    const answer = await ask('neither', { presence_penalty: 1 });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { code: 'unsupported_parameter', param: 'presence_penalty' } });
    expect(stack.simulator.received).toEqual([]);
    expect((await stack.usage())[0]).toMatchObject({ quota: 0, attempts: 0, outcome: 'error' });
  });
});
