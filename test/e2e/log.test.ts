import { afterEach, describe, expect, it } from 'vitest';
import type { Log } from '../../engine/contract/values.ts';
import { type Stack, startStack } from '../kit/stack.ts';

let stack: Stack | undefined;
afterEach(() => stack?.close());

describe('the request log', () => {
  it('7 has one line per request where log.requests says so, live', async () => {
    const lines: Record<string, unknown>[] = [];
    const log: Log = {
      debug() {},
      warn() {},
      error() {},
      info: (fields, message) => void (message === 'request' && lines.push({ ...fields })),
    };
    stack = await startStack({ log });
    const ask = () =>
      stack!.post('/chat/completions', { model: 'demo-chat', messages: [{ role: 'user', content: 'Hi' }] });
    await (await ask()).text();
    expect(lines).toEqual([]);
    await stack.rewrite(({ gateway }) => {
      gateway.log.requests = true;
    });
    await stack.gateway.reload();
    const reply = await ask();
    await reply.text();
    expect(lines).toMatchObject([
      {
        requestId: reply.headers.get('x-request-id'),
        method: 'POST',
        path: '/v1/chat/completions',
        status: 200,
        outcome: 'ok',
        model: 'demo-chat',
      },
    ]);
    expect(JSON.stringify(lines)).not.toContain(stack.key);
  });
});
