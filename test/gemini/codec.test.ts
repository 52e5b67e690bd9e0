/** The codec by itself: what a client's words become, and what a vendor is told. */
import { describe, expect, it } from 'vitest';
import type { ChatEvent, ChatMessage, ChatRequest, GatewayError, JsonObject } from '../../engine/plugin.ts';
import gemini from '../../plugins/protocols/gemini-generate.ts';
import { callOf, request } from '../chat-protocols/support.ts';

const decode = (body: JsonObject): ChatRequest => gemini.decodeRequest(body);
const encode = (over: Partial<ChatRequest>, model = 'gemini-3.6-flash'): JsonObject =>
  gemini.encodeRequest(request(over), model);
const asking = (...parts: JsonObject[]): JsonObject => ({ contents: [{ role: 'user', parts }] });
const user = (text: string): ChatMessage => ({ role: 'user', parts: [{ type: 'text', text }] });

function refusal(run: () => unknown): Partial<GatewayError> {
  try {
    run();
  } catch (error) {
    return error as GatewayError;
  }
  throw new Error('it was not refused');
}

describe('2.8 a client’s request', () => {
  it('2.8 parts of every kind', () => {
    const { messages } = decode(
      asking(
        { text: 'Look' },
        { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
        { inline_data: { mime_type: 'audio/wav', data: 'BBBB' } },
        { inlineData: { mimeType: 'application/pdf', data: 'CCCC', displayName: 'a.pdf' } },
        { fileData: { fileUri: 'https://x.example/cat.jpg?v=1' } },
        { fileData: { fileUri: 'https://x.example/doc', mimeType: 'application/pdf' } },
      ),
    );
    expect(messages).toEqual([
      {
        role: 'user',
        parts: [
          { type: 'text', text: 'Look' },
          { type: 'image', mediaType: 'image/png', data: 'AAAA', url: null },
          { type: 'audio', mediaType: 'audio/wav', data: 'BBBB' },
          { type: 'file', mediaType: 'application/pdf', name: 'a.pdf', data: 'CCCC', url: null, id: null },
          { type: 'image', mediaType: 'image/jpeg', data: null, url: 'https://x.example/cat.jpg?v=1' },
          {
            type: 'file',
            mediaType: 'application/pdf',
            name: null,
            data: null,
            url: 'https://x.example/doc',
            id: null,
          },
        ],
      },
    ]);
  });

  it('2.8 calls without ids are told apart, their results in order of their names', () => {
    const call = (name: string, id?: string) => ({ functionCall: { name, args: { n: 1 }, ...(id ? { id } : {}) } });
    const result = (name: string, response: JsonObject, id?: string) => ({
      functionResponse: { name, response, ...(id ? { id } : {}) },
    });
    const { messages } = decode({
      contents: [
        { parts: [{ text: 'Go' }] },
        { role: 'model', parts: [call('a'), call('b'), call('a'), call('c', 'mine')] },
        {
          role: 'user',
          parts: [
            result('a', { result: 'one' }),
            result('a', { output: 'two' }),
            result('b', { error: 'no' }),
            result('c', { x: [1] }, 'mine'),
            { text: 'And then' },
          ],
        },
      ],
    });
    const calls = messages[1]!.parts.map((part) => part.type === 'tool-call' && [part.id, part.name, part.arguments]);
    expect(calls).toEqual([
      ['call_1', 'a', '{"n":1}'],
      ['call_2', 'b', '{"n":1}'],
      ['call_3', 'a', '{"n":1}'],
      ['mine', 'c', '{"n":1}'],
    ]);
    const text = (value: string) => [{ type: 'text', text: value }];
    expect(messages[2]).toEqual({
      role: 'tool',
      parts: [
        { type: 'tool-result', id: 'call_1', parts: text('one'), error: false },
        { type: 'tool-result', id: 'call_3', parts: text('two'), error: false },
        { type: 'tool-result', id: 'call_2', parts: text('no'), error: true },
        { type: 'tool-result', id: 'mine', parts: text('{"x":[1]}'), error: false },
      ],
    });
    expect(messages[3]).toEqual(user('And then'));
  });

  it('2.8 the pieces of a streamed answer, each a content of its own, are one message', () => {
    const { messages } = decode({
      contents: [
        { parts: [{ text: 'Go' }] },
        { role: 'model', parts: [{ text: 'I th', thought: true }] },
        { role: 'model', parts: [{ text: 'ink', thought: true }] },
        { role: 'model', parts: [{ text: '', thought: true, thoughtSignature: b64('anthropic-messages:EqQB') }] },
        { role: 'model', parts: [{ text: 'An' }] },
        { role: 'model', parts: [{ text: 'swer' }, { text: '' }] },
      ],
    });
    expect(messages[1]).toEqual({
      role: 'assistant',
      parts: [
        { type: 'reasoning', text: 'I think', signature: 'anthropic-messages:EqQB' },
        { type: 'text', text: 'Answer' },
      ],
    });
  });

  it('2.8 Google’s schemas become JSON Schema, others stay as they are', () => {
    const parameters = {
      type: 'OBJECT',
      properties: {
        type: { type: 'STRING', nullable: true, enum: ['a'] },
        list: {
          type: 'ARRAY',
          items: { anyOf: [{ type: 'INTEGER' }, { type: 'OBJECT', properties: {} }] },
          minItems: '1',
        },
      },
      propertyOrdering: ['list', 'type'],
      required: ['list'],
    };
    const parametersJsonSchema = { type: 'object', $defs: { A: { type: 'OBJECT' } } };
    const { tools } = decode({
      ...asking({ text: 'x' }),
      tools: [
        { functionDeclarations: [{ name: 'a', parameters }, { name: 'b', parametersJsonSchema }, { name: 'c' }] },
      ],
    });
    expect(tools.map((tool) => tool.parameters)).toEqual([
      {
        type: 'object',
        properties: {
          type: { type: ['string', 'null'], enum: ['a', null] },
          list: {
            type: 'array',
            items: { anyOf: [{ type: 'integer' }, { type: 'object', properties: {} }] },
            minItems: 1,
          },
        },
        required: ['list'],
      },
      parametersJsonSchema,
      null,
    ]);
  });

  it.each([
    [{ mode: 'AUTO' }, 'auto', 2],
    [{ mode: 'VALIDATED' }, 'auto', 2],
    [{ mode: 'NONE' }, 'none', 2],
    [{ mode: 'ANY' }, 'required', 2],
    [{ mode: 'ANY', allowedFunctionNames: ['b'] }, { name: 'b' }, 2],
    [{ mode: 'ANY', allowedFunctionNames: ['b', 'x'] }, 'required', 1],
    [{ mode: 'MODE_UNSPECIFIED' }, null, 2],
  ])('2.8 tool choice %j', (functionCallingConfig, toolChoice, count) => {
    const tools = [{ functionDeclarations: [{ name: 'a' }, { name: 'b' }] }];
    const read = decode({ ...asking({ text: 'x' }), tools, toolConfig: { functionCallingConfig } });
    expect(read.toolChoice).toEqual(toolChoice);
    expect(read.tools).toHaveLength(count);
  });

  it('2.8 what only a Gemini vendor knows goes to none but that', () => {
    const generationConfig = { temperature: 1, mediaResolution: 'MEDIA_RESOLUTION_LOW' };
    const harmless = { safetySettings: [], labels: { a: 'b' }, generationConfig };
    const kept = decode({ ...asking({ text: 'x' }), ...harmless });
    expect(gemini.encodeRequest(kept, 'm')).toMatchObject({ safetySettings: [], labels: { a: 'b' }, generationConfig });
    expect(kept.extra.binding).toEqual([]);
    const binding = decode({
      ...asking({ text: 'x' }),
      tools: [{ googleSearch: {} }, { codeExecution: {} }],
      cachedContent: 'cachedContents/a',
      generationConfig: {
        responseModalities: ['TEXT', 'AUDIO'],
        responseMimeType: 'text/x.enum',
        responseLogprobs: true,
      },
    });
    expect(binding.extra.binding).toEqual([
      'cachedContent',
      'tools',
      'generationConfig.responseMimeType',
      'generationConfig.responseModalities',
      'generationConfig.responseLogprobs',
    ]);
    expect(gemini.encodeRequest(binding, 'm')).toMatchObject({ tools: [{ googleSearch: {} }, { codeExecution: {} }] });
  });

  it.each([
    ['contents[0].parts[0]', asking({ executableCode: { code: '1' } })],
    ['contents[0].parts[0].functionResponse', asking({ functionResponse: { name: 'f', response: {} } })],
    ['contents[0].parts[0].text', asking({ text: 1 })],
    [
      'generationConfig.thinkingConfig.thinkingLevel',
      { ...asking({ text: 'x' }), generationConfig: { thinkingConfig: { thinkingLevel: 'VAST' } } },
    ],
    [
      'toolConfig.functionCallingConfig.mode',
      { ...asking({ text: 'x' }), toolConfig: { functionCallingConfig: { mode: 'SOME' } } },
    ],
  ])('7 what is wrong at %s is named', (param, body) => {
    expect(refusal(() => decode(body))).toMatchObject({ status: 400, param });
  });

  it('7 a schema without end is refused', () => {
    let schema: JsonObject = { type: 'STRING' };
    for (let depth = 0; depth < 20_000; depth++) schema = { type: 'ARRAY', items: schema };
    const body = { ...asking({ text: 'x' }), tools: [{ functionDeclarations: [{ name: 'f', parameters: schema }] }] };
    expect(refusal(() => decode(body))).toMatchObject({ status: 400, code: 'invalid_value' });
  });
});

const b64 = (text: string): string => Buffer.from(text).toString('base64');
const assistant = (...parts: ChatMessage['parts']): ChatMessage => ({ role: 'assistant', parts });
const callPart = (id: string, signature?: string) =>
  ({ type: 'tool-call', id, name: `f_${id}`, arguments: '{"a":1}', ...(signature ? { signature } : {}) }) as const;
const resultPart = (id: string, text: string, error = false): ChatMessage => ({
  role: 'tool',
  parts: [{ type: 'tool-result', id, parts: [{ type: 'text', text }], error }],
});

describe('2.8 a vendor’s request', () => {
  it('2.8 neighbours are one content, the results of a turn too, system text stands in front', () => {
    const body = encode({
      messages: [
        { role: 'system', parts: [{ type: 'text', text: 'One' }] },
        user('A'),
        user('B'),
        assistant({ type: 'text', text: 'Let me see' }, callPart('1'), callPart('2')),
        resultPart('1', '{"ok":true}'),
        resultPart('2', 'failed', true),
        { role: 'system', parts: [{ type: 'text', text: 'Two' }] },
        user('C'),
      ],
    });
    const call = (id: string) => ({ functionCall: { id, name: `f_${id}`, args: { a: 1 } } });
    expect(body).toEqual({
      contents: [
        { role: 'user', parts: [{ text: 'A' }, { text: 'B' }] },
        {
          role: 'model',
          parts: [
            { text: 'Let me see' },
            { ...call('1'), thoughtSignature: 'skip_thought_signature_validator' },
            call('2'),
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: '1', name: 'f_1', response: { ok: true } } },
            { functionResponse: { id: '2', name: 'f_2', response: { error: 'failed' } } },
            { text: 'C' },
          ],
        },
      ],
      systemInstruction: { parts: [{ text: 'One' }, { text: 'Two' }] },
    });
  });

  it('2.8 its own signatures stand on their parts, those of others are left out', () => {
    const messages = [
      user('A'),
      assistant(
        { type: 'reasoning', text: 'Hm', signature: 'anthropic-messages:x' },
        { type: 'reasoning', text: 'Own', signature: 'gemini-generate:S1' },
        { type: 'text', text: 'So' },
        { type: 'reasoning', text: '', signature: 'gemini-generate:S2' },
        callPart('1', 'gemini-generate:S3'),
      ),
      resultPart('1', 'x'),
    ];
    const { contents } = encode({ messages }) as { contents: { parts: unknown }[] };
    expect(contents[1]!.parts).toEqual([
      { text: 'Own', thought: true, thoughtSignature: 'S1' },
      { text: 'So' },
      { text: '', thoughtSignature: 'S2' },
      { functionCall: { id: '1', name: 'f_1', args: { a: 1 } }, thoughtSignature: 'S3' },
    ]);
    const unsigned = [user('A'), assistant(callPart('1')), resultPart('1', 'x')];
    expect(JSON.stringify(encode({ messages: unsigned }, 'gemini-2.5-flash'))).not.toContain('thoughtSignature');
  });

  it('2.8 pictures in results: within them, or behind them for older models', () => {
    const shown: ChatMessage = {
      role: 'tool',
      parts: [
        {
          type: 'tool-result',
          id: '1',
          error: false,
          parts: [
            { type: 'text', text: 'See' },
            { type: 'image', mediaType: null, data: '/9j/AAAA', url: null },
          ],
        },
      ],
    };
    const messages = [user('A'), assistant(callPart('1')), shown];
    const lastOf = (model: string) => (encode({ messages }, model).contents as { parts: unknown }[])[2]!.parts;
    const inlineData = { mimeType: 'image/jpeg', data: '/9j/AAAA' };
    const response = { id: '1', name: 'f_1', response: { result: 'See' } };
    expect(lastOf('gemini-3-pro')).toEqual([{ functionResponse: { ...response, parts: [{ inlineData }] } }]);
    expect(lastOf('gemini-2.5-pro')).toEqual([{ functionResponse: response }, { inlineData }]);
  });

  it.each([
    ['gemini-3.6-flash', 'none', { thinkingLevel: 'MINIMAL' }],
    ['gemini-3-pro', 'minimal', { thinkingLevel: 'LOW' }],
    ['gemini-3.6-flash', 'medium', { thinkingLevel: 'MEDIUM' }],
    ['gemini-3.6-flash', 'xhigh', { thinkingLevel: 'HIGH' }],
    ['gemini-flash-latest', 'low', { thinkingLevel: 'LOW' }],
    ['gemini-2.5-flash', 'none', { thinkingBudget: 0 }],
    ['gemini-2.5-pro', 'none', { thinkingBudget: 128 }],
    ['gemini-2.5-flash', 'low', { thinkingBudget: 1024 }],
    ['gemini-2.5-flash', 'max', { thinkingBudget: 24_576 }],
  ])('2.8 %s thinks %s', (model, reasoningEffort, thinkingConfig) => {
    expect(encode({ reasoningEffort }, model).generationConfig).toEqual({ thinkingConfig });
  });

  it('2.8 settings by their names', () => {
    const schema = { type: 'object', properties: {} };
    const settings = {
      maxOutputTokens: 9,
      temperature: 0.1,
      topP: 0.2,
      topK: 3,
      choices: 2,
      stop: ['a', 'b'],
      seed: 2 ** 40 + 7,
      presencePenalty: 0.4,
      frequencyPenalty: 0.5,
      reasoningBudget: 60_000,
      reasoningShown: true,
      responseFormat: { type: 'schema', name: 's', schema, strict: true },
    } as const;
    expect(encode(settings).generationConfig).toEqual({
      maxOutputTokens: 9,
      temperature: 0.1,
      topP: 0.2,
      topK: 3,
      candidateCount: 2,
      stopSequences: ['a', 'b'],
      seed: 7,
      presencePenalty: 0.4,
      frequencyPenalty: 0.5,
      thinkingConfig: { thinkingBudget: 24_576, includeThoughts: true },
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
    });
  });

  it('2.8 pictures and files by URL are fetched by the vendor', () => {
    const image = { type: 'image', mediaType: null, data: null, url: 'https://x.example/a.png' } as const;
    const file = {
      type: 'file',
      mediaType: null,
      name: null,
      data: null,
      url: 'https://x.example/a.pdf',
      id: null,
    } as const;
    const { contents } = encode({ messages: [{ role: 'user', parts: [image, file] }] }) as {
      contents: { parts: unknown }[];
    };
    expect(contents[0]!.parts).toEqual([
      { fileData: { mimeType: 'image/png', fileUri: 'https://x.example/a.png' } },
      { fileData: { mimeType: 'application/pdf', fileUri: 'https://x.example/a.pdf' } },
    ]);
    const local = { ...image, url: 'file:///etc/passwd' };
    expect(refusal(() => encode({ messages: [{ role: 'user', parts: [local] }] }))).toMatchObject({ status: 400 });
    const foreign = { ...file, url: null, id: 'file-1' };
    expect(refusal(() => encode({ messages: [{ role: 'user', parts: [foreign] }] }))).toMatchObject({ status: 400 });
  });

  it('2.8 of many stop sequences it gets as many as it takes', () => {
    const { generationConfig } = encode({ stop: ['1', '', '2', '3', '4', '5', '6'] });
    expect(generationConfig).toEqual({ stopSequences: ['1', '2', '3', '4'] });
  });

  it.each<[string, Partial<ChatRequest>]>([
    ['a result without its call', { messages: [user('A'), resultPart('9', 'x')] }],
    [
      'another protocol’s own fields',
      { extra: { protocol: 'openai-chat', fields: { audio: {} }, binding: ['audio'] } },
    ],
  ])('7 refuses %s', (_what, over) => {
    expect(refusal(() => encode(over))).toMatchObject({ status: 400, name: 'GatewayError' });
  });
});

describe('2.9 a vendor’s answer', () => {
  const answer = (candidate: JsonObject): ChatEvent[] =>
    gemini.decodeReply({ candidates: [candidate], responseId: 'r' });
  const ends = (finishReason: string, parts: JsonObject[] = [{ text: 'x' }]) =>
    answer({ content: { parts }, finishReason }).at(-1);

  it.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content-filter'],
    ['RECITATION', 'content-filter'],
    ['PROHIBITED_CONTENT', 'content-filter'],
    ['LANGUAGE', 'stop'],
    ['OTHER', 'stop'],
    ['MALFORMED_FUNCTION_CALL', 'stop'],
    ['SOMETHING_NEW', 'stop'],
  ])('2.9 %s ends it with %s', (word, reason) => {
    expect(ends(word)).toEqual({ type: 'finish', choice: 0, reason });
  });

  it('2.9 calls end it with tool calls, interim pictures are not shown, the rest in its order', () => {
    const events = answer({
      content: {
        parts: [
          { thought: true, inlineData: { mimeType: 'image/png', data: 'INTERIM' } },
          { text: 'Hm', thought: true },
          { text: 'So', thoughtSignature: 'S1' },
          { inlineData: { mimeType: 'image/png', data: 'FINAL' } },
          { functionCall: { name: 'f', args: { a: 1 }, id: 'c1' }, thoughtSignature: 'S2' },
        ],
      },
      finishReason: 'STOP',
    });
    expect(events.slice(1)).toEqual([
      { type: 'reasoning', choice: 0, text: 'Hm' },
      { type: 'text', choice: 0, text: 'So' },
      { type: 'reasoning', choice: 0, text: '', signature: 'gemini-generate:S1' },
      { type: 'image', choice: 0, mediaType: 'image/png', data: 'FINAL' },
      { type: 'tool-call', choice: 0, index: 0, id: 'c1', name: 'f', signature: 'gemini-generate:S2' },
      { type: 'tool-arguments', choice: 0, index: 0, text: '{"a":1}' },
      { type: 'finish', choice: 0, reason: 'tool-calls' },
    ]);
  });

  it.each([{}, [], null, { candidates: [] }, { promptFeedback: {} }, 'x'])('7 %j is none', (body) => {
    expect(refusal(() => gemini.decodeReply(body as JsonObject))).toMatchObject({ code: 'upstream_invalid_response' });
  });

  it('7 an error may stand in a list', () => {
    const error = { code: 429, message: 'Slow down', status: 'RESOURCE_EXHAUSTED' };
    const read = { message: 'Slow down', code: null, type: 'RESOURCE_EXHAUSTED', param: null, retryAfter: null };
    expect(gemini.decodeError([{ error }])).toEqual(read);
    expect(gemini.decodeError({ error })).toEqual(read);
  });
});

describe('2.9 a client’s answer', () => {
  const start: ChatEvent = { type: 'start', id: 'x', model: 'v', created: 0 };
  const finish = (reason: 'stop' | 'length' | 'tool-calls' | 'content-filter'): ChatEvent => ({
    type: 'finish',
    choice: 0,
    reason,
  });
  const called = (text: string): ChatEvent[] => [
    { type: 'tool-call', choice: 0, index: 0, id: 'c1', name: 'f', signature: 'anthropic-messages:abc' },
    { type: 'tool-arguments', choice: 0, index: 0, text },
  ];
  const whole = (events: ChatEvent[]) =>
    (
      gemini.encodeReply([start, ...events], callOf()) as {
        candidates: { content: { parts: unknown }; finishReason: string }[];
      }
    ).candidates[0]!;

  it('2.9 another vendor’s signature is Base64 and comes back as it was', () => {
    const { content } = whole([...called('{"a":1}'), finish('tool-calls')]);
    const thoughtSignature = b64('anthropic-messages:abc');
    expect(content.parts).toEqual([{ functionCall: { id: 'c1', name: 'f', args: { a: 1 } }, thoughtSignature }]);
    const { messages } = decode({ contents: [{ role: 'model', parts: content.parts as JsonObject[] }] });
    expect(messages[0]!.parts[0]).toMatchObject({ signature: 'anthropic-messages:abc' });
  });

  it.each([
    ['length', 'MAX_TOKENS'],
    ['tool-calls', 'MALFORMED_FUNCTION_CALL'],
  ] as const)('2.9 a call that broke off is left out: %s', (reason, word) => {
    const candidate = whole([...called('{"a":'), finish(reason)]);
    expect(candidate).toMatchObject({ content: { parts: [{ text: '' }] }, finishReason: word });
  });

  it('2.9 no part is ever without a member, whole or streamed', () => {
    expect(whole([finish('content-filter')])).toEqual({
      content: { parts: [{ text: '' }], role: 'model' },
      finishReason: 'SAFETY',
      index: 0,
    });
    const encoder = gemini.encodeStream(callOf());
    expect(encoder.encode(start) + encoder.encode(finish('stop'))).toBe('');
    expect(JSON.parse(encoder.end().slice(6))).toEqual({
      candidates: [{ content: { parts: [{ text: '' }], role: 'model' }, finishReason: 'STOP', index: 0 }],
      modelVersion: 'v',
      responseId: 'x',
    });
  });

  it('6.2 several answers end in one last frame', () => {
    const encoder = gemini.encodeStream(callOf());
    const events: ChatEvent[] = [
      start,
      { type: 'text', choice: 1, text: 'b' },
      { type: 'finish', choice: 1, reason: 'stop' },
      { type: 'text', choice: 0, text: 'a' },
      { type: 'finish', choice: 0, reason: 'length' },
    ];
    const frames = `${events.map((event) => encoder.encode(event)).join('')}${encoder.end()}`
      .split('\n\n')
      .slice(0, -1);
    const read = frames.map(
      (frame) => JSON.parse(frame.slice(6)) as { candidates: { index: number; finishReason?: string }[] },
    );
    expect(read.map(({ candidates }) => candidates.map(({ index, finishReason }) => [index, finishReason]))).toEqual([
      [[1, undefined]],
      [[0, undefined]],
      [
        [1, 'STOP'],
        [0, 'MAX_TOKENS'],
      ],
    ]);
  });
});
