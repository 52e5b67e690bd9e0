/** What a protocol can say survives the way there and back. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChatEvent, ChatMessage, ChatPart } from '../../engine/plugin.ts';
import chat from '../../plugins/protocols/openai-chat.ts';
import completions from '../../plugins/protocols/openai-completions.ts';
import { callOf, request } from './support.ts';

const text = (value: string): ChatPart => ({ type: 'text', text: value });
const start: ChatEvent = { type: 'start', id: 'x1', model: 'v', created: 1790000000 };
const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const id = fc.stringMatching(/^[a-z0-9_]{1,12}$/);
const base64 = fc.base64String({ minLength: 4, maxLength: 16 });
const mediaType = fc.constantFrom('image/png', 'image/jpeg');
const userPart: fc.Arbitrary<ChatPart> = fc.oneof(
  word.map(text),
  fc.record({ type: fc.constant('image' as const), mediaType, data: base64, url: fc.constant(null) }),
  fc.record({
    type: fc.constant('image' as const),
    mediaType: fc.constant(null),
    data: fc.constant(null),
    url: fc.webUrl(),
    detail: fc.constantFrom('low', 'auto'),
  }),
  fc.record({
    type: fc.constant('audio' as const),
    mediaType: fc.constantFrom('audio/wav', 'audio/mpeg'),
    data: base64,
  }),
  id.map((one) => ({ type: 'file' as const, mediaType: null, name: null, data: null, url: null, id: one })),
  fc.record({
    type: fc.constant('file' as const),
    mediaType,
    name: word,
    data: base64,
    url: fc.constant(null),
    id: fc.constant(null),
  }),
);
const call = fc.record({ type: fc.constant('tool-call' as const), id, name: id, arguments: fc.json({ maxDepth: 1 }) });
const message: fc.Arbitrary<ChatMessage> = fc.oneof(
  word.map((one) => ({ role: 'system' as const, parts: [text(one)] })),
  fc.array(userPart, { minLength: 1, maxLength: 3 }).map((parts) => ({ role: 'user' as const, parts })),
  fc
    .tuple(fc.array(word.map(text), { maxLength: 2 }), fc.option(word), fc.array(call, { maxLength: 2 }))
    .map(([said, refused, calls]) => ({
      role: 'assistant' as const,
      parts: [...said, ...(refused === null ? [] : [{ type: 'refusal' as const, text: refused }]), ...calls],
    })),
  fc.tuple(id, word).map(([one, said]) => ({
    role: 'tool' as const,
    parts: [{ type: 'tool-result' as const, id: one, parts: [text(said)], error: false }],
  })),
);
const number = fc.option(fc.double({ min: 0, max: 1, noNaN: true }).map((one) => one + 0));
const count = fc.option(fc.integer({ min: 1, max: 9 }));
const scalars = {
  stream: fc.boolean(),
  maxOutputTokens: count,
  temperature: number,
  topP: number,
  // OpenAI refuses it, so that it is not written.
  topK: fc.constant(null),
  choices: count,
  stop: fc.array(word, { maxLength: 3 }),
  seed: count,
  presencePenalty: number,
  frequencyPenalty: number,
  user: fc.option(word),
};
const tool = fc.record({
  name: id,
  description: fc.option(word),
  parameters: fc.constantFrom({ type: 'object' }, null),
  strict: fc.option(fc.boolean()),
});
const fullRequest = fc
  .record({
    ...scalars,
    messages: fc.array(message, { minLength: 1, maxLength: 4 }),
    tools: fc.array(tool, { maxLength: 2 }),
    toolChoice: fc.constantFrom(null, 'auto' as const, 'required' as const, { name: 'f' }),
    parallelToolCalls: fc.option(fc.boolean()),
    reasoningEffort: fc.constantFrom(null, 'low'),
    verbosity: fc.constantFrom(null, 'high'),
    responseFormat: fc.constantFrom(
      null,
      { type: 'json' as const },
      { type: 'schema' as const, name: 's', schema: { type: 'object' }, strict: true },
    ),
  })
  // How tools are to be used is nothing to be said where there are none.
  .map((over) => request(over.tools.length > 0 ? over : { ...over, toolChoice: null, parallelToolCalls: null }));

const spoken = fc.oneof(
  fc.record({
    type: fc.constantFrom('text' as const, 'reasoning' as const, 'refusal' as const),
    choice: fc.nat(1),
    text: word,
  }),
  fc.record({ type: fc.constant('image' as const), choice: fc.nat(1), mediaType, data: base64 }),
);
const reason = fc.constantFrom('stop' as const, 'length' as const, 'content-filter' as const, 'tool-calls' as const);
const counts = fc.record({
  input: fc.integer({ min: 30, max: 99 }),
  cachedInput: fc.nat(15),
  cacheWrite: fc.nat(15),
  output: fc.integer({ min: 20, max: 99 }),
  reasoning: fc.nat(20),
});
const answer = fc
  .tuple(
    fc.array(spoken, { maxLength: 6 }),
    fc.array(fc.tuple(id, id, fc.array(word, { maxLength: 3 })), { maxLength: 3 }),
    reason,
    counts,
  )
  .map(([said, calls, why, used]): ChatEvent[] => [
    start,
    ...said,
    ...calls.flatMap(([callId, name, pieces], index): ChatEvent[] => [
      { type: 'tool-call', choice: 0, index, id: `${callId}${index}`, name },
      ...pieces.map((piece): ChatEvent => ({ type: 'tool-arguments', choice: 0, index, text: piece })),
    ]),
    { type: 'finish', choice: 0, reason: why },
    ...(said.some((one) => one.choice === 1) ? [{ type: 'finish' as const, choice: 1, reason: why }] : []),
    { type: 'usage', usage: used },
  ]);

describe('there and back', () => {
  it('2.8 a chat request keeps all that the protocol can say', () => {
    fc.assert(
      fc.property(fullRequest, (original) => {
        expect(chat.decodeRequest(chat.encodeRequest(original, 'shop'))).toEqual(original);
      }),
    );
  });

  it('4.1 what chat and completions both can say survives the way over chat', () => {
    fc.assert(
      fc.property(fc.record({ ...scalars, prompt: word }), ({ prompt, ...over }) => {
        const original = request({
          ...over,
          maxOutputTokens: over.maxOutputTokens ?? 16,
          messages: [{ role: 'user', parts: [text(prompt)] }],
        });
        const there = chat.decodeRequest(chat.encodeRequest(original, 'shop'));
        expect(completions.decodeRequest(completions.encodeRequest(there, 'shop'))).toEqual(original);
      }),
    );
  });

  it('2.9 6.2 a stream folds to the same reply as the events themselves', () => {
    fc.assert(
      fc.property(answer, (events) => {
        const asked = callOf({ choices: 1 });
        const whole = chat.encodeReply(events, asked);
        const { encode, end } = chat.encodeStream(asked);
        const wire = events.map(encode).join('') + end();
        const decode = chat.decodeStream();
        const frames = wire.split('\n\n').filter((one) => one !== '');
        const again = frames.flatMap((frame) => decode({ event: null, data: frame.slice('data: '.length) }));
        expect(chat.encodeReply(again, asked)).toEqual(whole);
        expect(chat.encodeReply(chat.decodeReply(whole), asked)).toEqual(whole);
        expect(again.filter((one) => one.type === 'usage')).toHaveLength(1);
      }),
    );
  });
});
