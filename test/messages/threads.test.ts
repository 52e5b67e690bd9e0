/** Threads: conversations that the vendor would keep. Its account is shared, so nobody can have one. */
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Stack } from '../kit/stack.ts';
import { clientOf, modelOf, startMessages, vendorProtocols } from './support.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startMessages();
});
afterAll(() => stack.close());

describe.each(vendorProtocols)('4.1 POST /v1/messages for a vendor of %s', (protocol) => {
  const model = modelOf(protocol);
  const messages = [{ role: 'user' as const, content: 'Hi' }];

  it.each([
    ['begun', { type: 'create' as const }],
    ['of somebody else', { type: 'continue' as const, previous_message_id: 'msg_of_another_user' }],
  ])('5 a thread is refused before a vendor is asked: %s', async (_name, thread) => {
    const client = clientOf(stack);
    const before = stack.simulator.received.length;
    const refusal = { status: 400, errorCode: 'thread_unsupported_request' };
    await expect(client.beta.messages.create({ model, max_tokens: 20, messages, thread })).rejects.toMatchObject(
      refusal,
    );
    const counted = { model, messages, thread };
    await expect(client.beta.messages.countTokens(counted)).rejects.toMatchObject(refusal);
    expect(stack.simulator.received).toHaveLength(before);
  });

  it.each([false, true])('the tool runner of the SDK does without: stream %s', async (stream) => {
    const asked: unknown[] = [];
    const weather = betaTool({
      name: 'weather',
      description: 'The weather of a city.',
      inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      run(input) {
        asked.push(input);
        return 'sunny';
      },
    });
    const runner = clientOf(stack).beta.messages.toolRunner({
      model,
      max_tokens: 200,
      messages,
      tools: [weather],
      stream,
    });
    const last = await runner.runUntilDone();
    expect(asked).toEqual([{ city: 'Zürich' }]);
    expect(last).toMatchObject({ stop_reason: 'end_turn', content: [{ type: 'text' }] });
  });
});
