/** What is written for vendors and clients of messages, and what is read from them, case by case. */
import { describe, expect, it } from 'vitest';
import type { ChatEvent, ChatMessage, ChatPart, ChatRequest, JsonObject } from '../../engine/plugin.ts';
import messages from '../../plugins/protocols/anthropic-messages.ts';
import { callOf, request } from '../chat-protocols/support.ts';
import { pdf, pixel } from './support.ts';

const text = (said: string): ChatPart => ({ type: 'text', text: said });
const says = (role: ChatMessage['role'], ...parts: ChatPart[]): ChatMessage => ({ role, parts });
const calls = (id: string, args = '{}'): ChatPart => ({ type: 'tool-call', id, name: 'f', arguments: args });
const result = (id: string, said = 'done'): ChatMessage =>
  says('tool', { type: 'tool-result', id, parts: [text(said)], error: false });
const encoded = (over: Partial<ChatRequest>, model = 'claude-sonnet-5-5', most: number | null = null) =>
  messages.encodeRequest(request(over), model, most) as JsonObject & {
    messages: { role: string; content: JsonObject[] }[];
  };
const turns = (...list: ChatMessage[]) => encoded({ messages: list }).messages;
const hi = says('user', text('Hi'));

describe('2.8 turns for a vendor of messages', () => {
  it('neighbours of one role are one turn, tool results first', () => {
    expect(
      turns(
        hi,
        says('user', text('you')),
        says('assistant', text('So'), calls('a'), calls('b')),
        result('a', '1'),
        says('system', text('Hurry.')),
        result('b', '2'),
        says('user', text('Next')),
      ),
    ).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'text', text: 'you' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'So' },
          { type: 'tool_use', id: 'a', name: 'f', input: {} },
          { type: 'tool_use', id: 'b', name: 'f', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: '1' },
          { type: 'tool_result', tool_use_id: 'b', content: '2' },
          { type: 'text', text: 'Hurry.' },
          { type: 'text', text: 'Next' },
        ],
      },
    ]);
  });

  it('texts that say nothing are left out, with the turns that hold nothing else', () => {
    expect(turns(hi, says('assistant', text(' \n')), says('user', text(''), text('there')))).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'text', text: 'there' },
        ],
      },
    ]);
  });

  it('a last turn of the assistant’s does not end in blanks', () => {
    expect(turns(hi, says('assistant', text('The answer is: \n'))).at(-1)!.content).toEqual([
      { type: 'text', text: 'The answer is:' },
    ]);
  });

  it('leading system text is one text; nothing but system text is said by the user', () => {
    const led = encoded({ messages: [says('system', text('A')), says('system', text('B')), hi] });
    expect([led.system, led.messages.length]).toEqual(['A\n\nB', 1]);
    const alone = encoded({ messages: [says('system', text('A'))] });
    expect(alone).not.toHaveProperty('system');
    expect(alone.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'A' }] }]);
  });

  it('the assistant cannot begin', () => {
    expect(() => turns(says('assistant', text('I begin')))).toThrow(/messages\[0\]\.role/);
  });

  it('ids are made valid and unique, and results find their calls', () => {
    const made = turns(
      hi,
      says('assistant', calls('call.1/x'), calls('same'), calls('same')),
      result('call.1/x'),
      result('same', 'first'),
      result('same', 'second'),
      says('assistant', calls('same')),
      result('same', 'third'),
      says('assistant', calls('')),
      result(''),
    );
    const blocks = made.flatMap(({ content }) => content);
    const ids = blocks.flatMap(({ id }) => (typeof id === 'string' ? [id] : []));
    expect(ids).toEqual(['call_1_x', 'same', 'same_2', 'same_3', 'call']);
    expect(blocks.flatMap(({ tool_use_id }) => tool_use_id ?? [])).toEqual(ids);
  });

  it.each([
    ['', {}],
    ['{"a":1}', { a: 1 }],
    ['[1]', { arguments: [1] }],
    ['{"a":', { arguments: '{"a":' }],
  ])('arguments %j of an earlier call', (args, input) => {
    expect(turns(hi, says('assistant', calls('a', args)), result('a'))[1]!.content[0]!.input).toEqual(input);
  });

  it('only this protocol’s own thoughts come back', () => {
    const thought = (said: string, signature: string | null): ChatPart => ({
      type: 'reasoning',
      text: said,
      signature,
    });
    const said = says(
      'assistant',
      thought('mine', 'anthropic-messages:EqQB'),
      thought('', 'anthropic-messages:!sealed'),
      thought('theirs', 'gemini-generate:xyz'),
      thought('nobody’s', null),
      text('So'),
    );
    expect(turns(hi, said, hi)[1]!.content).toEqual([
      { type: 'thinking', thinking: 'mine', signature: 'EqQB' },
      { type: 'redacted_thinking', data: 'sealed' },
      { type: 'text', text: 'So' },
    ]);
  });

  it('images and files', () => {
    const image = (over: object): ChatPart => ({ type: 'image', mediaType: null, data: null, url: null, ...over });
    const file = (over: object): ChatPart => ({
      ...{ type: 'file', mediaType: null, name: null, data: null, url: null, id: null },
      ...over,
    });
    const html = Buffer.from('<p>Grüße</p>').toString('base64');
    const [turn] = turns(
      says(
        'user',
        image({ data: pixel }),
        image({ mediaType: 'image/jpg', data: 'AAAA' }),
        image({ url: 'https://example.com/a.png' }),
        file({ data: pdf, name: 'a.pdf' }),
        file({ data: html, mediaType: 'text/html' }),
        file({ url: 'https://example.com/a.pdf' }),
      ),
    );
    expect(turn!.content.map(({ type, source, title }) => [type, source, title])).toEqual([
      ['image', { type: 'base64', media_type: 'image/png', data: pixel }, undefined],
      ['image', { type: 'base64', media_type: 'image/jpeg', data: 'AAAA' }, undefined],
      ['image', { type: 'url', url: 'https://example.com/a.png' }, undefined],
      ['document', { type: 'base64', media_type: 'application/pdf', data: pdf }, 'a.pdf'],
      ['document', { type: 'text', media_type: 'text/plain', data: '<p>Grüße</p>' }, undefined],
      ['document', { type: 'url', url: 'https://example.com/a.pdf' }, undefined],
    ]);
    for (const part of [
      image({ mediaType: 'image/tiff', data: 'AAAA' }),
      file({ id: 'file-1' }),
      file({ mediaType: 'application/zip', data: 'AAAA' }),
      { type: 'audio', mediaType: 'audio/wav', data: 'AAAA' } as const,
    ])
      expect(() => turns(says('user', part))).toThrow(/messages\[0\]\.content/);
  });
});

describe('2.8 settings for a vendor of messages', () => {
  it.each([
    [{ maxOutputTokens: 77 }, 8192, 77],
    [{}, 8192, 8192],
    [{}, null, 4096],
  ])('a bound is always said: %j of %s', (over, most, expected) => {
    expect(encoded(over, 'claude-x', most).max_tokens).toBe(expected);
  });

  it.each([
    [{ temperature: 1.7 }, { temperature: 1 }],
    [
      { temperature: 0.4, topP: 0.9, topK: 5 },
      { temperature: 0.4, top_k: 5 },
    ],
    [{ temperature: 1, topP: 0.9 }, { top_p: 0.9 }],
    [{ temperature: 0 }, { temperature: 0 }],
  ])('sampling %j', (over, expected) => {
    const { temperature, top_p, top_k } = encoded(over);
    expect(JSON.parse(JSON.stringify({ temperature, top_p, top_k }))).toEqual(expected);
  });

  const tool = { name: 'f', description: null, parameters: null, strict: null };
  it.each([
    [{ toolChoice: 'auto' as const }, { type: 'auto' }],
    [
      { toolChoice: 'required' as const, parallelToolCalls: false },
      { type: 'any', disable_parallel_tool_use: true },
    ],
    [{ toolChoice: 'none' as const, parallelToolCalls: false }, { type: 'none' }],
    [{ toolChoice: { name: 'f' } }, { type: 'tool', name: 'f' }],
    [{ parallelToolCalls: false }, { type: 'auto', disable_parallel_tool_use: true }],
    [{ parallelToolCalls: true }, undefined],
  ])('tool choice %j', (over, expected) => {
    expect(encoded({ ...over, tools: [tool] }).tool_choice).toEqual(expected);
    expect(encoded(over)).not.toHaveProperty('tool_choice');
  });

  it('a tool without parameters takes an empty object', () => {
    expect(encoded({ tools: [tool] }).tools).toEqual([{ name: 'f', input_schema: { type: 'object', properties: {} } }]);
  });

  it('a schema closes all its objects; any JSON is asked for in words', () => {
    const inner = { type: 'object', properties: { b: { type: 'array', items: { type: 'object' } } } };
    const schema = { type: 'object', properties: { a: inner }, additionalProperties: false };
    const responseFormat = { type: 'schema', name: 's', schema, strict: true } as const;
    expect(encoded({ responseFormat }).output_config).toEqual({
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          additionalProperties: false,
          properties: {
            a: {
              type: 'object',
              additionalProperties: false,
              properties: { b: { type: 'array', items: { type: 'object', additionalProperties: false } } },
            },
          },
        },
      },
    });
    expect(encoded({ responseFormat: { type: 'json' } }).system).toMatch(/JSON object/);
  });

  it('stop sequences of blanks are left out, the user is named, several answers are refused', () => {
    const { stop_sequences, metadata } = encoded({ stop: ['END', ' \n'], user: 'someone' });
    expect([stop_sequences, metadata]).toEqual([['END'], { user_id: 'someone' }]);
    expect(() => encoded({ choices: 2 })).toThrow(/`n`/);
  });

  it.each([
    ['claude-3-5-sonnet-20241022', undefined],
    ['claude-3-7-sonnet-20250219', { type: 'enabled', budget_tokens: 2000 }],
    ['claude-opus-4-20250514', { type: 'enabled', budget_tokens: 2000 }],
    ['claude-opus-4-1', { type: 'enabled', budget_tokens: 2000 }],
    ['anthropic.claude-haiku-4-5-20251001-v1:0', { type: 'enabled', budget_tokens: 2000 }],
    ['claude-opus-4-6', { type: 'adaptive' }],
    ['claude-sonnet-5-5', { type: 'adaptive' }],
    ['my-own-alias', { type: 'adaptive' }],
  ])('how %s is told to think', (model, thinking) => {
    expect(encoded({ reasoningBudget: 2000, maxOutputTokens: 9000 }, model).thinking).toEqual(thinking);
  });
});

describe('2.9 answers of a vendor of messages', () => {
  const decode = (over: JsonObject) => messages.decodeReply({ id: 'msg_1', model: 'm', content: [], ...over });
  it.each([
    ['end_turn', 'stop'],
    ['pause_turn', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['tool_use', 'tool-calls'],
    ['refusal', 'content-filter'],
    ['something_new', 'stop'],
  ])('%s', (stop_reason, reason) => {
    expect(decode({ stop_reason }).at(-1)).toEqual({ type: 'finish', choice: 0, reason });
  });

  it('the stop sequence, and what a refusal explains', () => {
    expect(decode({ stop_reason: 'stop_sequence', stop_sequence: 'END' }).at(-1)).toMatchObject({
      stopSequence: 'END',
    });
    const stop_details = { type: 'refusal', category: null, explanation: 'No.' };
    expect(decode({ stop_reason: 'refusal', stop_details })).toContainEqual({
      type: 'refusal',
      choice: 0,
      text: 'No.',
    });
  });

  it('absurd usage is not believed', () => {
    const usage = { input_tokens: 5e12, output_tokens: 1 };
    expect(decode({ stop_reason: 'end_turn', usage }).some(({ type }) => type === 'usage')).toBe(false);
  });

  it.each([[null], ['text'], [{}], [{ content: 'text' }]])('%j is no answer', (body) => {
    expect(() => messages.decodeReply(body)).toThrow(/cannot be used/);
  });
});

describe('6.2 streams for a client of messages', () => {
  const start: ChatEvent = { type: 'start', id: 'x', model: 'm', created: 1 };
  const finish: ChatEvent = { type: 'finish', choice: 0, reason: 'stop' };
  const call = (index: number, signature?: string): ChatEvent => ({
    type: 'tool-call',
    choice: 0,
    index,
    id: `c${index}`,
    name: 'f',
    ...(signature === undefined ? {} : { signature }),
  });
  const args = (index: number, said: string): ChatEvent => ({ type: 'tool-arguments', choice: 0, index, text: said });
  const written = (...events: ChatEvent[]) => {
    const encoder = messages.encodeStream(callOf());
    const wire = [start, ...events, finish].map((one) => encoder.encode(one)).join('') + encoder.end();
    return wire
      .trimEnd()
      .split('\n\n')
      .map((frame) => JSON.parse(frame.split('\ndata: ')[1]!) as JsonObject);
  };
  /** Each block as its opening and all that was said in it; fails where blocks overlap. */
  const blocks = (...events: ChatEvent[]) => {
    const found: { of: string; said: string }[] = [];
    let open = -1;
    for (const event of written(...events)) {
      const { index, content_block: block, delta } = event as never as Record<string, Record<string, string>>;
      if (event.type === 'content_block_start') {
        expect([open, index]).toEqual([-1, found.length]);
        open = found.push({ of: block!.id ?? block!.type!, said: block!.data ?? '' }) - 1;
      } else if (event.type === 'content_block_delta') {
        expect(index).toBe(open);
        found[open]!.said += delta!.text ?? delta!.thinking ?? delta!.partial_json ?? `#${delta!.signature}`;
      } else if (event.type === 'content_block_stop') {
        expect(index).toBe(open);
        open = -1;
      }
    }
    expect(open).toBe(-1);
    return found;
  };

  it('have their events in order', () => {
    expect(written({ type: 'text', choice: 0, text: 'Hi' }).map(({ type }) => type)).toEqual([
      'message_start',
      'ping',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
  });

  it('calls that come in turns do not overlap, and what follows them waits', () => {
    expect(
      blocks(
        call(0),
        call(1),
        args(1, '{"b"'),
        args(0, '{"a":'),
        call(2),
        { type: 'text', choice: 0, text: 'late' },
        args(1, ':2}'),
        args(0, '1}'),
        args(2, '{}'),
      ),
    ).toEqual([
      { of: 'c0', said: '{"a":1}' },
      { of: 'c1', said: '{"b":2}' },
      { of: 'c2', said: '{}' },
      { of: 'text', said: 'late' },
    ]);
  });

  it('a call that never got whole is closed at the end', () => {
    expect(blocks(call(0), args(0, '{"a":'), call(1), args(1, '{}'))).toEqual([
      { of: 'c0', said: '{"a":' },
      { of: 'c1', said: '{}' },
    ]);
  });

  it('thoughts end with their signatures; another vendor’s keep its name; a call’s stands before it', () => {
    const thought = (said: string, signature?: string): ChatEvent => ({
      type: 'reasoning',
      choice: 0,
      text: said,
      ...(signature === undefined ? {} : { signature }),
    });
    expect(
      blocks(
        thought('one '),
        thought('more'),
        thought('', 'anthropic-messages:EqQB'),
        thought('', 'anthropic-messages:!sealed'),
        thought('theirs', 'gemini-generate:xyz'),
        thought('unsigned'),
        call(0, 'gemini-generate:abc'),
      ),
    ).toEqual([
      { of: 'thinking', said: 'one more#EqQB' },
      { of: 'redacted_thinking', said: 'sealed' },
      { of: 'thinking', said: 'theirs#gemini-generate:xyz' },
      { of: 'thinking', said: 'unsigned' },
      { of: 'thinking', said: '' },
      { of: 'c0', said: '' },
    ]);
  });

  it('a call’s signature comes back as the call’s', () => {
    const reply = messages.encodeReply([start, call(0, 'gemini-generate:abc'), finish], callOf());
    const body = { model: 'm', messages: [{ role: 'assistant', content: reply.content! }] };
    expect(messages.decodeRequest(body).messages[0]!.parts).toEqual([
      { type: 'tool-call', id: 'c0', name: 'f', arguments: '{}', signature: 'gemini-generate:abc' },
    ]);
  });

  it('the whole reply is the fold of the same events', () => {
    const usage = { input: 10, cachedInput: 3, cacheWrite: 2, output: 7, reasoning: 1 };
    const events: ChatEvent[] = [
      start,
      { type: 'reasoning', choice: 0, text: 'hm', signature: 'anthropic-messages:s' },
      { type: 'text', choice: 0, text: 'So' },
      call(0),
      args(0, '{"a":1}'),
      { type: 'usage', usage },
      finish,
    ];
    expect(messages.encodeReply(events, callOf())).toMatchObject({
      model: 'm',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 's' },
        { type: 'text', text: 'So' },
        { type: 'tool_use', id: 'c0', name: 'f', input: { a: 1 } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 5, cache_creation_input_tokens: 2, cache_read_input_tokens: 3, output_tokens: 7 },
    });
  });
});

it('2.8 there and back: what messages can say stays the same', () => {
  const body: JsonObject = {
    model: 'vendor-model',
    max_tokens: 9000,
    system: 'Be brief.',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 'EqQB' },
          { type: 'redacted_thinking', data: 'c2VhbGVk' },
          { type: 'text', text: 'I call.' },
          { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: [1, 'ü'] } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: 'broken', is_error: true },
          { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: pdf }, title: 'a.pdf' },
          { type: 'text', text: 'Go on' },
        ],
      },
    ],
    tools: [
      {
        name: 'f',
        description: 'd',
        strict: true,
        input_schema: { type: 'object', properties: {}, additionalProperties: false },
      },
    ],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    output_config: {
      effort: 'high',
      format: { type: 'json_schema', schema: { type: 'object', additionalProperties: false } },
    },
    thinking: { type: 'adaptive' },
    stop_sequences: ['END'],
    metadata: { user_id: 'someone' },
    service_tier: 'auto',
    stream: true,
  };
  expect(messages.encodeRequest(messages.decodeRequest(body), 'vendor-model')).toEqual(body);
});

describe('4.1 POST /v1/messages relayed to a vendor of messages', () => {
  const relayed = (text: string) =>
    messages.relay
      .request(Buffer.from(text), callOf({ body: JSON.parse(text) as JsonObject }), 'claude-x', null)
      .toString();

  it('keeps every byte but the model’s name', () => {
    const text =
      '{ "unknown" : 1.50,\n "messages":[{"content":[{"type":"thinking","thinking":"\\u0061","signature":"EqQB"}]}],"model":"shop"}';
    expect(relayed(text)).toBe(text.replace('"shop"', '"claude-x"'));
  });

  it('leaves out thoughts that a vendor of another protocol had', () => {
    const thought = (signature: string) => ({ type: 'thinking', thinking: 'hm', signature });
    const said = { type: 'text', text: 'So' };
    const content = [thought(''), thought('gemini-generate:abc'), thought('EqQB'), said];
    const body = JSON.parse(relayed(JSON.stringify({ model: 'shop', messages: [{ role: 'assistant', content }] })));
    expect(body).toEqual({ model: 'claude-x', messages: [{ role: 'assistant', content: [thought('EqQB'), said] }] });
  });

  it('names the model once where the body does it twice', () => {
    expect(relayed('{"model":"a","messages":[],"mod\\u0065l":"shop"}')).not.toMatch(/"(a|shop)"/);
  });
});
