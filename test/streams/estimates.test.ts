/** Streams that break off before their vendor has counted: a piece may hold one token, or a whole paragraph. */
import { describe, expect, it } from 'vitest';
import type { ChatCall, ChatProtocol, JsonObject } from '../../engine/plugin.ts';
import messages from '../../plugins/protocols/anthropic-messages.ts';
import gemini from '../../plugins/protocols/gemini-generate.ts';
import chat from '../../plugins/protocols/openai-chat.ts';
import completions from '../../plugins/protocols/openai-completions.ts';
import responses from '../../plugins/protocols/openai-responses.ts';

const head = { id: 'chatcmpl-0123456789', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'm' };
const chunk = (delta: JsonObject, more: JsonObject = {}): JsonObject => ({
  ...head,
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
});
const delta = (type: string, said: JsonObject): JsonObject => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type, ...said },
});

/** A frame that says `text`, by protocol and kind. */
const frames: readonly [string, ChatProtocol, (text: string) => JsonObject][] = [
  ['text', chat, (text) => chunk({ content: text })],
  ['thoughts', chat, (text) => chunk({ reasoning_content: text })],
  ['arguments', chat, (text) => chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] })],
  ['text', completions, (text) => ({ ...head, choices: [{ index: 0, text, finish_reason: null }] })],
  ['text', messages, (text) => delta('text_delta', { text })],
  ['thoughts', messages, (text) => delta('thinking_delta', { thinking: text })],
  ['arguments', messages, (text) => delta('input_json_delta', { partial_json: text })],
  ['text', responses, (text) => ({ type: 'response.output_text.delta', item_id: 'msg_1', delta: text })],
  ['arguments', responses, (text) => ({ type: 'response.function_call_arguments.delta', item_id: 'fc', delta: text })],
  ['text', gemini, (text) => ({ candidates: [{ content: { role: 'model', parts: [{ text }] } }] })],
];

function estimated(protocol: ChatProtocol, said: readonly JsonObject[]): number {
  const tap = protocol.relay.stream({ body: {}, wantsUsage: true } as ChatCall);
  for (const data of said) {
    const name = typeof data.type === 'string' ? `event: ${data.type}\n` : '';
    tap.push(Buffer.from(`${name}data: ${JSON.stringify(data)}\n\n`));
  }
  expect(tap.usage).toBeNull();
  return tap.estimatedOutput;
}

describe('8 an answer that breaks off is charged for what it said', () => {
  it.each(frames)('%s in large pieces: $1.name', (_kind, protocol, frame) => {
    const paragraph = 'So said the \\ "fox".\n'.repeat(50);
    const written = JSON.stringify(paragraph).length / 4;
    const tokens = estimated(protocol, [frame('Hi'), frame(paragraph), frame(paragraph)]);
    expect(tokens).toBeGreaterThan(2 * (paragraph.length / 4));
    expect(tokens).toBeLessThan(2 * written + 20);
  });

  it.each(frames)('%s in pieces of a token: $1.name', (_kind, protocol, frame) => {
    expect(
      estimated(
        protocol,
        Array.from({ length: 20 }, () => frame('fox ')),
      ),
    ).toBeLessThanOrEqual(24);
  });

  it('likelihoods and signatures are no words', () => {
    const bytes = Array.from({ length: 200 }, () => 120);
    const logprobs = { logprobs: { content: [{ token: 'fox', logprob: -1, bytes, top_logprobs: [] }] } };
    expect(estimated(chat, [chunk({ content: 'fox' }, logprobs), chunk({ content: 'fox' }, logprobs)])).toBe(2);
    expect(estimated(messages, [delta('signature_delta', { signature: 'x'.repeat(4000) })])).toBe(1);
  });
});

const words = 'So said the fox.';
const whole: readonly [ChatProtocol, (input: number, output: number) => JsonObject][] = [
  [
    chat,
    (input, output) => ({
      choices: [{ index: 0, message: { role: 'assistant', content: words } }],
      usage: { prompt_tokens: input, completion_tokens: output },
    }),
  ],
  [
    messages,
    (input, output) => ({
      content: [{ type: 'text', text: words }],
      usage: { input_tokens: input, output_tokens: output },
    }),
  ],
  [
    responses,
    (input, output) => ({
      id: 'resp_1',
      output: [{ type: 'message', content: [{ type: 'output_text', text: words }] }],
      usage: { input_tokens: input, output_tokens: output },
    }),
  ],
  [
    gemini,
    (input, output) => ({
      candidates: [{ content: { parts: [{ text: words }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: input, candidatesTokenCount: output },
    }),
  ],
];

describe.each(whole)('8 counts that count nothing are not believed: $name', ({ relay }, answer) => {
  const read = (input: number, output: number) => relay.reply(Buffer.from(JSON.stringify(answer(input, output))));

  it.each([1e300, 2e9, -5, 1.5])('%d', (absurd) => {
    for (const [input, output] of [
      [absurd, 4],
      [3, absurd],
    ] as const)
      expect(read(input, output)).toMatchObject({ usage: null, estimatedOutput: words.length / 4 });
    expect(read(3, 4).usage).toMatchObject({ input: 3, output: 4 });
  });
});
