/** Bytes split at every position give the same client view and the same usage. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { translateBridge } from '../../engine/chain/chat/translate.ts';
import type { ChatProtocol, Exchange, StreamTap } from '../../engine/plugin.ts';
import anthropicMessages from '../../plugins/protocols/anthropic-messages.ts';
import geminiGenerate from '../../plugins/protocols/gemini-generate.ts';
import openaiChat from '../../plugins/protocols/openai-chat.ts';
import { type Simulator, startSimulator } from '../../simulator/index.ts';
import { callOf } from '../chat-protocols/support.ts';

let simulator: Simulator;
const recorded = new Map<ChatProtocol, Buffer>();

const schema = { type: 'object', properties: { q: { type: 'string' } } };
const prompt = 'Ünder 東京 [calls=2] [reasoning=8] [chunks=4]';
const key = { authorization: 'Bearer k', 'x-api-key': 'k', 'x-goog-api-key': 'k', 'anthropic-version': '2023-06-01' };

async function record(path: string, body: object): Promise<Buffer> {
  const response = await fetch(`${simulator.url}${path}`, {
    method: 'POST',
    headers: { ...key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

beforeAll(async () => {
  simulator = await startSimulator();
  const messages = [{ role: 'user', content: prompt }];
  recorded.set(
    geminiGenerate,
    await record('/gemini/v1beta/models/gemini-3.6-flash:streamGenerateContent?alt=sse', {
      contents: [{ parts: [{ text: prompt }] }],
      tools: [{ functionDeclarations: [{ name: 'lookup', parametersJsonSchema: schema }] }],
      generationConfig: { thinkingConfig: { includeThoughts: true } },
    }),
  );
  recorded.set(
    openaiChat,
    await record('/openai/v1/chat/completions', {
      model: 'gpt-4.1-mini',
      messages,
      stream: true,
      stream_options: { include_usage: true },
      tools: [{ type: 'function', function: { name: 'lookup', parameters: schema } }],
    }),
  );
  recorded.set(
    anthropicMessages,
    await record('/anthropic/v1/messages', {
      model: 'claude-sonnet-5-5',
      max_tokens: 4000,
      messages,
      stream: true,
      thinking: { type: 'enabled', budget_tokens: 2000 },
      tools: [{ name: 'lookup', input_schema: schema }],
    }),
  );
});
afterAll(() => simulator.close());

/** All that a client gets of a stream that went well, and what the gateway knows of it. */
function seen(tap: StreamTap, pieces: readonly Buffer[]) {
  const out = pieces.map((piece) => tap.push(piece) ?? Buffer.alloc(0));
  const text = Buffer.concat([...out, tap.flush() ?? Buffer.alloc(0), tap.closing()]).toString('utf8');
  return { text, usage: tap.usage, complete: tap.complete, estimated: tap.estimatedOutput };
}

/** No hook looks at the exchange. */
const noExchange = {} as Exchange;

/** Made-up ids differ from run to run. */
const fixed = (view: ReturnType<typeof seen>) => ({
  ...view,
  text: view.text
    .replace(/(?:call|msg|toolu)_[0-9a-f]{32}|chatcmpl-[0-9a-f]{32}/g, 'id')
    .replace(/"created":\d+/g, '"created":0'),
});

const events = callOf({ model: 'shop' });
const array = { ...events, array: true };

const pairs: readonly (readonly [string, ChatProtocol, ChatProtocol, typeof events])[] = [
  ['openai-chat to events', geminiGenerate, openaiChat, events],
  ['openai-chat to an array', geminiGenerate, openaiChat, array],
  ['anthropic-messages to events', geminiGenerate, anthropicMessages, events],
  ['anthropic-messages to an array', geminiGenerate, anthropicMessages, array],
  ['gemini-generate to openai-chat', openaiChat, geminiGenerate, events],
  ['gemini-generate to anthropic-messages', anthropicMessages, geminiGenerate, events],
];

describe('6.2 a stream that is translated', () => {
  it.each(pairs)('6.2 %s, split at every position', (_name, client, vendor, call) => {
    const bytes = recorded.get(vendor)!;
    const bridge = translateBridge(client, vendor, []);
    const view = (pieces: readonly Buffer[]) => fixed(seen(bridge.stream(noExchange, call), pieces));
    const whole = view([bytes]);
    expect(whole).toMatchObject({ complete: true, usage: { reasoning: 8 } });
    for (let at = 1; at < bytes.length; at++) expect(view([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole);
    expect(view([...bytes].map((byte) => Buffer.from([byte])))).toEqual(whole);
  });
});

describe('6.2 a stream that is relayed', () => {
  it.each([
    ['events', events],
    ['an array', array],
  ])('6.2 as %s, split at every position', (_name, call) => {
    const bytes = recorded.get(geminiGenerate)!;
    const view = (pieces: readonly Buffer[]) => seen(geminiGenerate.relay.stream(call), pieces);
    const whole = view([bytes]);
    expect(whole).toMatchObject({ complete: true, usage: { reasoning: 8 } });
    const elements = bytes
      .toString('utf8')
      .replace(/^data: /gm, '')
      .trim()
      .split('\n\n');
    expect(whole.text).toBe(call === array ? `[${elements.join(',\r\n')}]` : bytes.toString('utf8'));
    for (let at = 1; at < bytes.length; at++) expect(view([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole);
    expect(view([...bytes].map((byte) => Buffer.from([byte])))).toEqual(whole);
  });
});
