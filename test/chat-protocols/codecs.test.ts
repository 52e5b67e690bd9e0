/** What the golden cases do not show: neutral shapes that only other protocols make, and errors. */
import { describe, expect, it } from 'vitest';
import { type ChatEvent, type ChatMessage, type ChatPart, GatewayError, type JsonObject } from '../../engine/plugin.ts';
import chat from '../../plugins/protocols/openai-chat.ts';
import completions from '../../plugins/protocols/openai-completions.ts';
import { callOf, protocols, request, streamed } from './support.ts';

const text = (value: string): ChatPart => ({ type: 'text', text: value });
const picture: ChatPart = { type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=', url: null };
const written = (messages: readonly ChatMessage[]) => chat.encodeRequest(request({ messages }), 'v').messages;

describe('messages for a chat vendor', () => {
  it('results within a user’s message become tool messages, and what they show follows the last of them', () => {
    const result = (id: string, ...parts: ChatPart[]): ChatPart => ({ type: 'tool-result', id, parts, error: false });
    const url = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
    const messages: ChatMessage[] = [
      { role: 'user', parts: [result('a', text('see'), picture)] },
      { role: 'tool', parts: [result('b', text('done'))] },
      { role: 'user', parts: [text('Well?')] },
      { role: 'user', parts: [result('c', picture), text('And this?')] },
    ];
    expect(written(messages)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'see' },
      { role: 'tool', tool_call_id: 'b', content: 'done' },
      { role: 'user', content: [url] },
      { role: 'user', content: 'Well?' },
      { role: 'tool', tool_call_id: 'c', content: '' },
      { role: 'user', content: [url] },
      { role: 'user', content: 'And this?' },
    ]);
  });

  it('signed reasoning of another vendor is left out, the rest of the turn stays', () => {
    const parts: ChatPart[] = [{ type: 'reasoning', text: 'secret', signature: 'c2ln' }, text('Hello')];
    expect(written([{ role: 'assistant', parts }])).toEqual([{ role: 'assistant', content: 'Hello' }]);
  });

  it.each<[string, ChatMessage['role'], ChatPart]>([
    ['a picture by the assistant', 'assistant', picture],
    ['audio that is neither WAV nor MP3', 'user', { type: 'audio', mediaType: 'audio/flac', data: 'AA==' }],
    [
      'a file by URL',
      'user',
      { type: 'file', mediaType: null, name: null, data: null, url: 'https://f.example/a.pdf', id: null },
    ],
    ['a call by the user', 'user', { type: 'tool-call', id: 'a', name: 'f', arguments: '{}' }],
  ])('%s is refused by name', (_name, role, part) => {
    expect(() => written([{ role, parts: [part] }])).toThrow(
      expect.objectContaining({ code: 'unsupported_parameter', param: 'messages[0].content' }),
    );
  });

  it('the vendor is told the model, a bound and the wish for usage', () => {
    expect(chat.encodeRequest(request({ stream: true, maxOutputTokens: 5 }), 'v')).toMatchObject({
      model: 'v',
      max_completion_tokens: 5,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('fields of a protocol that is no kin are left out, binding ones refused', () => {
    const extra = { protocol: 'other', fields: { cache: 1, logit_bias: { 1: 2 } }, binding: ['logit_bias'] };
    expect(chat.encodeRequest(request({ extra }), 'v')).toEqual({
      model: 'v',
      messages: [{ role: 'user', content: 'Hi' }],
      logit_bias: { 1: 2 },
    });
    const binding = { ...extra, binding: ['cache'] };
    expect(() => chat.encodeRequest(request({ extra: binding }), 'v')).toThrow(
      expect.objectContaining({ code: 'unsupported_parameter', param: 'cache' }),
    );
  });
});

const start: ChatEvent = { type: 'start', id: 'x1', model: 'v', created: 1790000000 };
const finish: ChatEvent = { type: 'finish', choice: 0, reason: 'stop' };
const usage = { input: 9, cachedInput: 0, cacheWrite: 0, output: 4, reasoning: 0 };

describe('replies for a client', () => {
  it.each(Object.values(protocols))(
    '$name: the client hears of usage in its stream only where it asked',
    (protocol) => {
      for (const wantsUsage of [true, false]) {
        const { encode, end } = protocol.encodeStream(callOf({ wantsUsage }));
        const events: ChatEvent[] = [start, { type: 'text', choice: 0, text: 'Hi' }, finish, { type: 'usage', usage }];
        const out = events.map(encode).join('');
        expect(out.includes('"usage"')).toBe(wantsUsage);
        expect(out.includes('"prompt_tokens":9')).toBe(wantsUsage);
        expect(out).not.toContain('[DONE]');
        expect(encode({ type: 'usage', usage })).toBe('');
        expect(end()).toBe('data: [DONE]\n\n');
      }
    },
  );

  it.each(Object.values(protocols))(
    '$name: nothing is written before the first word, so that a vendor can still be replaced',
    (protocol) => {
      expect(protocol.encodeStream(callOf()).encode(start)).toBe('');
    },
  );

  it.each(Object.values(protocols))('$name: what the vendor did not say is made up', (protocol) => {
    const reply = protocol.encodeReply([{ type: 'text', choice: 0, text: 'Hi' }, finish], callOf());
    expect(reply).toMatchObject({ model: 'shop' });
    expect(reply.id).toMatch(/^(?:chatcmpl|cmpl)-[0-9a-f]{32}$/);
    expect(reply.created).toBeGreaterThan(1_700_000_000);
    const [, id] =
      /"id":"([^"]+)"/.exec(protocol.encodeStream(callOf()).encode({ type: 'text', choice: 0, text: 'Hi' })) ?? [];
    expect(id).toMatch(/^(?:chatcmpl|cmpl)-[0-9a-f]{32}$/);
  });

  it.each(Object.values(protocols))(
    '7 $name: errors have the four members, and end with the request id',
    (protocol) => {
      const error = new GatewayError('upstream_error', 'Broken.', { param: 'n', shownCode: 'busy' });
      const body = {
        error: { message: 'Broken. (request id: req_1)', type: 'server_error', param: 'n', code: 'busy' },
      };
      expect(protocol.encodeError(error, 'req_1')).toEqual(body);
      expect(protocol.encodeStream(callOf()).encodeError(error, 'req_1')).toBe(`data: ${JSON.stringify(body)}\n\n`);
      expect(() => protocol.encodeReply([start, { type: 'error', error }], callOf())).toThrow(error);
    },
  );

  it('a call that must come back signed carries its signature to the client and back', () => {
    const events: ChatEvent[] = [
      start,
      { type: 'tool-call', choice: 0, index: 0, id: 'a', name: 'f', signature: 'c2ln' },
      finish,
    ];
    const reply = chat.encodeReply(events, callOf()) as { choices: { message: JsonObject }[] };
    const { messages } = chat.decodeRequest({ model: 'm', messages: [reply.choices[0]!.message] });
    expect(messages[0]!.parts).toEqual([{ type: 'tool-call', id: 'a', name: 'f', arguments: '', signature: 'c2ln' }]);
    expect(events.map(chat.encodeStream(callOf()).encode).join('')).toContain('"thought_signature":"c2ln"');
  });

  it('4.4 a frame that is no JSON object breaks the stream off', () => {
    for (const data of ['{', '7', '[]', 'null']) {
      expect(() => streamed(chat, completions, [Buffer.from(`data: ${data}\n\n`)])).toThrow(
        expect.objectContaining({ code: 'upstream_invalid_response' }),
      );
    }
  });
});
