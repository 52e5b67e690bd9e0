/** What the golden cases do not show: neutral shapes that only other protocols make, and errors. */
import { describe, expect, it } from 'vitest';
import { type ChatEvent, type ChatMessage, type ChatPart, GatewayError, type JsonObject } from '../../engine/plugin.ts';
import chat from '../../plugins/protocols/openai-chat.ts';
import completions from '../../plugins/protocols/openai-completions.ts';
import { callOf, openAiProtocols, protocols, request, streamed } from './support.ts';

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
  it.each(openAiProtocols)('$name: the client hears of usage in its stream only where it asked', (protocol) => {
    for (const wantsUsage of [true, false]) {
      const { encode, end } = protocol.encodeStream(callOf({ wantsUsage }));
      const events: ChatEvent[] = [start, { type: 'text', choice: 0, text: 'Hi' }, finish, { type: 'usage', usage }];
      const out = events.map(encode).join('');
      expect(out.includes('"usage"')).toBe(wantsUsage);
      expect(out).not.toContain('[DONE]');
      expect(encode({ type: 'usage', usage })).toBe('');
      const last = end();
      expect(last.includes('"prompt_tokens":9')).toBe(wantsUsage);
      expect(last.endsWith('data: [DONE]\n\n')).toBe(true);
    }
  });

  it.each(openAiProtocols)('$name: of a vendor that counts with every piece, the last count is told', (protocol) => {
    const { encode, end } = protocol.encodeStream(callOf({ wantsUsage: true }));
    const counted = (output: number): ChatEvent => ({ type: 'usage', usage: { ...usage, output } });
    // A choice that the gateway ends, while its vendor goes on.
    const events: ChatEvent[] = [start, { type: 'text', choice: 0, text: 'Hi' }, counted(1), finish, counted(8)];
    const told = [...`${events.map(encode).join('')}${end()}`.matchAll(/"completion_tokens":(\d+)/g)];
    expect(told.map(([, tokens]) => tokens)).toEqual(['8']);
  });

  it.each(Object.values(protocols))(
    '$name: nothing is written before the first word, so that a vendor can still be replaced',
    (protocol) => {
      expect(protocol.encodeStream(callOf()).encode(start)).toBe('');
    },
  );

  it.each(openAiProtocols)('$name: what the vendor did not say is made up', (protocol) => {
    const reply = protocol.encodeReply([{ type: 'text', choice: 0, text: 'Hi' }, finish], callOf());
    expect(reply).toMatchObject({ model: 'shop' });
    expect(reply.id).toMatch(/^(?:chatcmpl|cmpl)-[0-9a-f]{32}$/);
    expect(reply.created).toBeGreaterThan(1_700_000_000);
    const [, id] =
      /"id":"([^"]+)"/.exec(protocol.encodeStream(callOf()).encode({ type: 'text', choice: 0, text: 'Hi' })) ?? [];
    expect(id).toMatch(/^(?:chatcmpl|cmpl)-[0-9a-f]{32}$/);
  });

  it.each(openAiProtocols)('7 $name: errors have the four members, and end with the request id', (protocol) => {
    const error = new GatewayError('upstream_error', 'Broken.', { param: 'n', shownCode: 'busy' });
    const body = {
      error: { message: 'Broken. (request id: req_1)', type: 'server_error', param: 'n', code: 'busy' },
    };
    expect(protocol.encodeError(error, 'req_1')).toEqual(body);
    expect(protocol.encodeStream(callOf()).encodeError(error, 'req_1')).toBe(`data: ${JSON.stringify(body)}\n\n`);
    expect(() => protocol.encodeReply([start, { type: 'error', error }], callOf())).toThrow(error);
  });

  it('a call that must come back signed carries its signature to the client and back', () => {
    const events: ChatEvent[] = [
      start,
      { type: 'tool-call', choice: 0, index: 0, id: 'a', name: 'f', signature: 'gemini-generate:c2ln' },
      finish,
    ];
    const reply = chat.encodeReply(events, callOf()) as { choices: { message: JsonObject }[] };
    const { messages } = chat.decodeRequest({ model: 'm', messages: [reply.choices[0]!.message] });
    expect(messages[0]!.parts).toEqual([
      { type: 'tool-call', id: 'a', name: 'f', arguments: '', signature: 'gemini-generate:c2ln' },
    ]);
    expect(events.map(chat.encodeStream(callOf()).encode).join('')).toContain(
      '"thought_signature":"gemini-generate:c2ln"',
    );
  });

  it('a signed thought goes to the client with its text and comes back with its vendor’s name', () => {
    const events: ChatEvent[] = [
      start,
      { type: 'reasoning', choice: 0, text: 'Hm' },
      { type: 'reasoning', choice: 0, text: '.', signature: 'anthropic-messages:EqQB' },
      { type: 'reasoning', choice: 0, text: '', signature: 'anthropic-messages:!data' },
      { type: 'text', choice: 0, text: 'Hi' },
      finish,
    ];
    const details = [
      { type: 'reasoning.text', text: 'Hm.', signature: 'anthropic-messages:EqQB' },
      { type: 'reasoning.encrypted', data: 'anthropic-messages:!data' },
    ];
    const reply = chat.encodeReply(events, callOf()) as { choices: { message: JsonObject }[] };
    expect(reply.choices[0]!.message).toMatchObject({ reasoning_content: 'Hm.', reasoning_details: details });
    const { messages } = chat.decodeRequest({ model: 'm', messages: [reply.choices[0]!.message] });
    expect(messages[0]!.parts).toEqual([
      { type: 'reasoning', text: 'Hm.', signature: 'anthropic-messages:EqQB' },
      { type: 'reasoning', text: '', signature: 'anthropic-messages:!data' },
      { type: 'text', text: 'Hi' },
    ]);
    const { encode } = chat.encodeStream(callOf());
    const streamed = events.map(encode).join('');
    for (const detail of details) expect(streamed).toContain(`"reasoning_details":[${JSON.stringify(detail)}]`);
    // A vendor of this protocol is not given what another one signed.
    const again = chat.encodeRequest(request({ messages }), 'v') as { messages: JsonObject[] };
    expect(again.messages[0]).toEqual({ role: 'assistant', content: 'Hi' });
  });

  it('a vendor of this protocol gets its own signatures back as it made them', () => {
    const message = {
      role: 'assistant',
      content: 'Hi',
      reasoning_content: 'Hm.',
      reasoning_details: [{ type: 'reasoning.text', text: 'Hm.', signature: 'c2ln' }],
      tool_calls: [
        {
          id: 'a',
          type: 'function',
          function: { name: 'f', arguments: '{}' },
          extra_content: { google: { thought_signature: 'b3du' } },
        },
      ],
    };
    const events = chat.decodeReply({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }] });
    expect(events).toContainEqual({ type: 'reasoning', choice: 0, text: '', signature: 'openai-chat:c2ln' });
    expect(events).toContainEqual(expect.objectContaining({ type: 'tool-call', signature: 'openai-chat:b3du' }));
    const { messages } = chat.decodeRequest({ model: 'm', messages: [message] });
    const again = chat.encodeRequest(request({ messages }), 'v') as { messages: JsonObject[] };
    expect(again.messages[0]).toMatchObject({
      reasoning_details: message.reasoning_details,
      tool_calls: message.tool_calls,
    });
  });

  it('a tool that takes plain text is called with plain text, whole and streamed', () => {
    const body = { tools: [{ type: 'custom', custom: { name: 'shell' } }] };
    const events: ChatEvent[] = [
      start,
      { type: 'tool-call', choice: 0, index: 0, id: 'a', name: 'shell' },
      { type: 'tool-arguments', choice: 0, index: 0, text: '{"input":"ls' },
      { type: 'tool-arguments', choice: 0, index: 0, text: ' -l"}' },
      { type: 'finish', choice: 0, reason: 'tool-calls' },
    ];
    const reply = chat.encodeReply(events, callOf({ body })) as { choices: { message: JsonObject }[] };
    expect(reply.choices[0]!.message.tool_calls).toEqual([
      { id: 'a', type: 'custom', custom: { name: 'shell', input: 'ls -l' } },
    ]);
    const { encode } = chat.encodeStream(callOf({ body }));
    expect(events.map(encode).join('')).toContain('{"tool_calls":[{"index":0,"custom":{"input":"ls -l"}}]}');
    const { messages } = chat.decodeRequest({ model: 'm', messages: [reply.choices[0]!.message] });
    expect(messages[0]!.parts).toEqual([{ type: 'tool-call', id: 'a', name: 'shell', arguments: '{"input":"ls -l"}' }]);
  });

  it('4.4 a frame that is no JSON object breaks the stream off', () => {
    for (const data of ['{', '7', '[]', 'null']) {
      expect(() => streamed(chat, completions, [Buffer.from(`data: ${data}\n\n`)])).toThrow(
        expect.objectContaining({ code: 'upstream_invalid_response' }),
      );
    }
  });
});
