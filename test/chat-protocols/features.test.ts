/** The tables of docs/protocols.md against what the codecs really do. */
import { describe, expect, it } from 'vitest';
import {
  type ChatEvent,
  type ChatMessage,
  type ChatRequest,
  customToolParameters,
  GatewayError,
  type ReplyFeature,
  type RequestFeature,
} from '../../engine/plugin.ts';
import { callOf, protocols, request, written } from './support.ts';

const hello: ChatMessage = { role: 'user', parts: [{ type: 'text', text: 'Hi' }] };
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const tool = { name: 'f', description: null, parameters: { type: 'object', properties: {} }, strict: null };
const called: ChatMessage[] = [
  hello,
  { role: 'assistant', parts: [{ type: 'tool-call', id: 'call_1', name: 'f', arguments: '{}' }] },
];
const resultOf = (error: boolean, image = false): ChatMessage => ({
  role: 'tool',
  parts: [
    {
      type: 'tool-result',
      id: 'call_1',
      error,
      parts: [
        { type: 'text', text: 'done' },
        ...(image ? [{ type: 'image' as const, mediaType: 'image/png', data: png, url: null }] : []),
      ],
    },
  ],
});
const withTool = { tools: [tool] };
const user = (...parts: ChatMessage['parts'][number][]): ChatMessage => ({
  role: 'user',
  parts: [{ type: 'text', text: 'Hi' }, ...parts],
});

interface Sample {
  /** The request without the feature; default: a plain one. */
  readonly without?: Partial<ChatRequest>;
  readonly with: Partial<ChatRequest>;
}

/** Null: no neutral form, a client's `said` decides alone. */
const samples: Readonly<Record<RequestFeature, Sample | null>> = {
  'system-text': { with: { messages: [{ role: 'system', parts: [{ type: 'text', text: 'Be brief' }] }, hello] } },
  'system-later': {
    without: { messages: [hello, { role: 'assistant', parts: [{ type: 'text', text: 'A' }] }, hello] },
    with: {
      messages: [
        hello,
        { role: 'assistant', parts: [{ type: 'text', text: 'A' }] },
        { role: 'system', parts: [{ type: 'text', text: 'Be brief' }] },
        hello,
      ],
    },
  },
  turns: { with: { messages: [hello, { role: 'assistant', parts: [{ type: 'text', text: 'A' }] }, hello] } },
  'image-data': { with: { messages: [user({ type: 'image', mediaType: 'image/png', data: png, url: null })] } },
  'image-url': {
    with: { messages: [user({ type: 'image', mediaType: null, data: null, url: 'https://a.test/b.png' })] },
  },
  'file-data': {
    with: {
      messages: [
        user({ type: 'file', mediaType: 'application/pdf', name: 'a.pdf', data: 'JVBERi0=', url: null, id: null }),
      ],
    },
  },
  'file-url': {
    with: {
      messages: [
        user({
          type: 'file',
          mediaType: 'application/pdf',
          name: null,
          data: null,
          url: 'https://a.test/b.pdf',
          id: null,
        }),
      ],
    },
  },
  audio: { with: { messages: [user({ type: 'audio', mediaType: 'audio/wav', data: 'UklGRg==' })] } },
  tools: { with: withTool },
  'custom-tools': {
    with: { tools: [{ ...tool, name: 'shell', parameters: customToolParameters, custom: true }] },
  },
  'drawn-before': null,
  'vendor-tools': null,
  'tool-names': {
    without: withTool,
    with: { tools: [{ ...tool, name: 'a tool / with a name that no vendor takes' }] },
  },
  'tool-calls': { without: withTool, with: { ...withTool, messages: [...called, resultOf(false)] } },
  'tool-results': { without: withTool, with: { ...withTool, messages: [...called, resultOf(false)] } },
  'tool-result-images': {
    without: { ...withTool, messages: [...called, resultOf(false)] },
    with: { ...withTool, messages: [...called, resultOf(false, true)] },
  },
  'tool-result-errors': {
    without: { ...withTool, messages: [...called, resultOf(false)] },
    with: { ...withTool, messages: [...called, resultOf(true)] },
  },
  'tool-choice': { without: withTool, with: { ...withTool, toolChoice: { name: 'f' } } },
  'parallel-off': { without: withTool, with: { ...withTool, parallelToolCalls: false } },
  reasoning: { with: { reasoningEffort: 'high' } },
  'reasoning-budget': { with: { reasoningBudget: 2048, maxOutputTokens: 8192 }, without: { maxOutputTokens: 8192 } },
  'reasoning-signed': null,
  'structured-output': {
    with: {
      responseFormat: {
        type: 'schema',
        name: 's',
        schema: { type: 'object', properties: {}, additionalProperties: false },
        strict: true,
      },
    },
  },
  'json-output': { with: { responseFormat: { type: 'json' } } },
  'max-tokens': { with: { maxOutputTokens: 777 } },
  stop: { with: { stop: ['END'] } },
  temperature: { with: { temperature: 0.5 } },
  'top-p': { with: { topP: 0.5 } },
  'top-k': { with: { topK: 5 } },
  seed: { with: { seed: 7 } },
  penalties: { with: { presencePenalty: 1, frequencyPenalty: 1 } },
  choices: { with: { choices: 2 } },
  logprobs: null,
  verbosity: { with: { verbosity: 'low' } },
  user: { with: { user: 'someone' } },
};

describe.each(Object.values(protocols))('what a vendor of $name gets', (vendor) => {
  const body = (over: Partial<ChatRequest>) => JSON.stringify(vendor.encodeRequest(request(over), 'v'));

  it.each(Object.keys(samples) as RequestFeature[])('2.8 %s', (feature) => {
    const { fate } = vendor.features!.request[feature].written;
    const sample = samples[feature];
    if (sample === null) return;
    if (fate === 'refused') {
      expect(() => body(sample.with)).toThrow(GatewayError);
      return;
    }
    // Where there are no tools at all, what is said about them stands alone.
    const over = vendor.features!.request.tools.written.fate === 'refused' ? { tools: [] } : {};
    const changed = body({ ...sample.with, ...over }) !== body({ ...sample.without, ...over });
    expect(changed).toBe(fate === 'kept' || fate === 'mapped');
  });

  it('2.8 signed thoughts: its own come back unchanged, another’s do not', () => {
    const said = (signature: string) =>
      body({
        messages: [
          hello,
          {
            role: 'assistant',
            parts: [
              { type: 'reasoning', text: 'Hm', signature },
              { type: 'text', text: 'A' },
            ],
          },
          hello,
        ],
      });
    const { fate } = vendor.features!.request['reasoning-signed'].written;
    expect(said(`${vendor.name}:c2lnbmVk`).includes('c2lnbmVk')).toBe(fate === 'kept' || fate === 'mapped');
    expect(said('another-protocol:c2lnbmVk')).not.toContain('c2lnbmVk');
  });
});

const start: ChatEvent = { type: 'start', id: 'x1', model: 'v', created: 1790000000 };
const finish: ChatEvent = { type: 'finish', choice: 0, reason: 'stop' };
const usage = { input: 9, cachedInput: 0, cacheWrite: 0, output: 9, reasoning: 0 };
const plain: ChatEvent[] = [start, { type: 'text', choice: 0, text: 'Hi' }, finish, { type: 'usage', usage }];
const thought: ChatEvent[] = [start, { type: 'reasoning', choice: 0, text: 'Hm' }, ...plain.slice(1)];
const among = (...events: ChatEvent[]): ChatEvent[] => [start, ...events, ...plain.slice(1)];

const replies: Readonly<Record<ReplyFeature, readonly ChatEvent[] | null>> = {
  text: among({ type: 'text', choice: 0, text: 'MARK' }),
  refusal: [start, { type: 'refusal', choice: 0, text: 'MARK' }, finish, { type: 'usage', usage }],
  thoughts: among({ type: 'reasoning', choice: 0, text: 'MARK' }),
  'thought-signatures': among({ type: 'reasoning', choice: 0, text: 'Hm', signature: 'another-protocol:MARK' }),
  calls: among(
    { type: 'tool-call', choice: 0, index: 0, id: 'call_1', name: 'MARK' },
    { type: 'tool-arguments', choice: 0, index: 0, text: '{}' },
  ),
  'finish-reason': [start, plain[1]!, { ...finish, reason: 'length' }, plain[3]!],
  'stop-sequence': [start, plain[1]!, { ...finish, stopSequence: 'MARK' }, plain[3]!],
  'cached-tokens': [...plain.slice(0, 3), { type: 'usage', usage: { ...usage, cachedInput: 7 } }],
  'reasoning-tokens': [...plain.slice(0, 3), { type: 'usage', usage: { ...usage, reasoning: 7 } }],
  'images-out': among({ type: 'image', choice: 0, mediaType: 'image/png', data: 'MARK' }),
  citations: null,
  'stream-errors': null,
};

/** What differs from one answer to the next though the same was said. */
const steady = (text: string): string =>
  text.replace(/"(id|item_id|responseId)":"[^"]*"/g, '"$1":""').replace(/"(created|created_at|completed_at)":\d+/g, '');

describe.each(Object.values(protocols))('what a client of $name gets', (client) => {
  const whole = (events: readonly ChatEvent[]) => steady(JSON.stringify(client.encodeReply(events, callOf())));
  const streamed = (events: readonly ChatEvent[]) => steady(written(client, events));

  it.each(Object.keys(replies) as ReplyFeature[])('2.9 6.2 %s', (feature) => {
    const { fate } = client.features!.reply[feature].shown;
    const events = replies[feature];
    if (events === null) return;
    const isShown = fate === 'kept' || fate === 'mapped';
    // A client's own library may want a signature in another alphabet.
    const marked = feature !== 'thought-signatures' && JSON.stringify(events).includes('MARK');
    const without = feature === 'thought-signatures' ? thought : plain;
    for (const shown of [whole, streamed]) {
      if (marked) expect(shown(events).includes('MARK')).toBe(isShown);
      else expect(shown(events) !== shown(without)).toBe(isShown);
    }
  });

  it('6.2 stream-errors', () => {
    const encoder = client.encodeStream(callOf());
    for (const event of plain.slice(0, 2)) encoder.encode(event);
    const { fate } = client.features!.reply['stream-errors'].shown;
    const text = encoder.encodeError(new GatewayError('upstream_error', 'Broken.'), 'req_1');
    expect(text.includes('Broken.')).toBe(fate === 'kept' || fate === 'mapped');
  });
});
