/** However the network cuts a stream of messages up, the client sees the same and pays the same. */
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import messages from '../../plugins/protocols/anthropic-messages.ts';
import chat from '../../plugins/protocols/openai-chat.ts';
import { callOf, streamed } from '../chat-protocols/support.ts';
import { type ScriptedVendor, startVendor } from '../e2e/chat-support.ts';
import { type Stack, startStack } from '../kit/stack.ts';
import { chatStream, chatStreamWithRefusal, messagesStream, messagesUsage } from './frames.ts';

const relayed = (pieces: readonly Buffer[]) => {
  const tap = messages.relay.stream(callOf());
  const out = pieces.map((piece) => tap.push(piece) ?? Buffer.alloc(0));
  const last = tap.flush() ?? Buffer.alloc(0);
  return { tap, text: Buffer.concat([...out, last, tap.closing()]).toString('utf8') };
};
const translated = (pieces: readonly Buffer[]) => {
  const { tap, text } = streamed(messages, chat, pieces);
  // Ids are made up for each answer.
  return { tap, text: (text + tap.closing().toString('utf8')).replaceAll(/msg_[0-9a-f]{32}/g, 'msg_new') };
};
const toChat = (pieces: readonly Buffer[]) => {
  const { tap, text } = streamed(chat, messages, pieces);
  // This vendor does not say when it answered.
  return { tap, text: text.replaceAll(/"created":\d+/g, '"created":0') };
};

describe.each([
  ['relayed', messagesStream, relayed],
  ['of chat completions for a client of messages', chatStream, translated],
  ['of messages for a client of chat completions', messagesStream, toChat],
])('6.2 a stream %s', (_name, stream, run) => {
  const bytes = Buffer.from(stream);
  const whole = run([bytes]);

  it('is the same however it is cut in two', () => {
    const seen = JSON.stringify([whole.text, messagesUsage, true, null]);
    const wrong: number[] = [];
    for (let cut = 1; cut < bytes.length; cut++) {
      const { tap, text } = run([bytes.subarray(0, cut), bytes.subarray(cut)]);
      if (JSON.stringify([text, tap.usage, tap.complete, tap.error]) !== seen) wrong.push(cut);
    }
    expect(wrong).toEqual([]);
  });

  it('is the same byte by byte, and with the line ends of Windows', () => {
    const { tap, text } = run([...bytes].map((byte) => Buffer.from([byte])));
    expect([text, tap.usage]).toEqual([whole.text, messagesUsage]);
    const windows = run([Buffer.from(stream.replaceAll('\n', '\r\n'))]);
    expect(windows.text.replaceAll('\r\n', '\n')).toBe(whole.text);
    expect(windows.tap.usage).toEqual(messagesUsage);
  });
});

it('6.2 a relayed stream keeps every byte, also of events nobody knows', () => {
  expect(relayed([Buffer.from(messagesStream)]).text).toBe(messagesStream);
});

it('6.2 nothing behind the last event is handed on', () => {
  expect(relayed([Buffer.from(`${messagesStream}event: ping\ndata: {"type":"ping"}\n\n`)]).text).toBe(messagesStream);
});

it('6.2 an error that lacks its event’s name is one too', () => {
  const error = 'data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n';
  const { tap, text } = relayed([
    Buffer.from(messagesStream.slice(0, messagesStream.indexOf('event: message_delta')) + error),
  ]);
  expect(tap.error).toMatchObject({ type: 'overloaded_error', message: 'Overloaded' });
  expect(text).not.toContain('overloaded');
});

describe('4.1 POST /v1/messages over sockets', () => {
  let stack: Stack;
  let vendor: ScriptedVendor;
  let stream = '';
  let pieceSize = 1;

  beforeAll(async () => {
    vendor = await startVendor((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const bytes = Buffer.from(stream);
      const push = (at: number): void => {
        if (at >= bytes.length) response.end();
        else {
          response.write(bytes.subarray(at, at + pieceSize));
          setImmediate(() => push(at + pieceSize));
        }
      };
      push(0);
    });
    stack = await startStack({
      edit({ channels, models }) {
        const account = { baseUrl: vendor.baseUrl, credentials: ['sk-1'], groups: ['default'] };
        channels.channels = {
          own: { ...account, vendor: 'anthropic', models: { own: 'claude-x' } },
          chat: { ...account, vendor: 'openai', protocols: ['openai-chat'], models: { chat: 'gpt-x' } },
        };
        const priced = { family: 'chat', price: { input: '1', cachedInput: '0.5', cacheWrite: '2', output: '4' } };
        models.models = { own: priced, chat: priced };
      },
    });
  });
  afterAll(async () => {
    await stack.close();
    await vendor.close();
  });

  const run = async (model: string, size: number) => {
    pieceSize = size;
    const client = new Anthropic({ apiKey: stack.key, baseURL: stack.gateway.url, maxRetries: 0 });
    const asked = { model, max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hi' }] };
    const message = await client.messages.stream(asked).finalMessage();
    const [row] = await stack.usage();
    return { message, row: row! };
  };

  it.each([
    ['own', messagesStream],
    ['chat', chatStream],
  ])('the SDK sees the same answer of %s and the row is the same, however it is cut', async (model, text) => {
    stream = text;
    const whole = await run(model, 1_000_000);
    expect(whole.row).toMatchObject({
      inputTokens: 125,
      cachedInputTokens: 100,
      cacheWriteTokens: 5,
      outputTokens: 31,
      reasoningTokens: 9,
      // (20 plain × 1 + 100 cached × 0.5 + 5 written × 2 + 31 out × 4) USD a million, at half a unit each
      quota: 102,
      usageSource: 'measured',
    });
    for (const size of [1, 7, 64, 333]) {
      const { message, row } = await run(model, size);
      expect(message.content).toEqual(whole.message.content);
      expect(message.stop_reason).toBe('tool_use');
      expect(message.usage).toMatchObject({ input_tokens: 20, cache_read_input_tokens: 100, output_tokens: 31 });
      expect(row.quota).toBe(102);
    }
  });

  it('6.2 calls that come in turns are told apart, one block after another', async () => {
    stream = chatStream;
    const { message } = await run('chat', 1_000_000);
    expect(message.content).toMatchObject([
      { type: 'thinking', thinking: 'Grüße an 東京.' },
      { type: 'text', text: 'One "moment" 🙂' },
      { type: 'tool_use', id: 'call_1', name: 'look', input: { id: '42' } },
      { type: 'tool_use', id: 'call_2', name: 'go', input: { fast: true } },
    ]);
  });

  it('2.9 a refusal of a vendor of chat completions is text, and said to be one', async () => {
    stream = chatStreamWithRefusal;
    const { message } = await run('chat', 1_000_000);
    expect(message).toMatchObject({
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', explanation: 'I cannot do that.' },
      content: [{ type: 'text', text: 'I cannot do that.' }],
    });
  });
});
