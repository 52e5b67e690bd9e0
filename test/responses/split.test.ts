/** Bytes of a vendor's stream in any pieces: the same view for the client and the same usage. */
import { describe, expect, it } from 'vitest';
import { relayBridge } from '../../engine/chain/bridge.ts';
import { translateBridge } from '../../engine/chain/chat/translate.ts';
import type { ChatProtocol, JsonObject } from '../../engine/plugin.ts';
import chat from '../../plugins/protocols/openai-chat.ts';
import responses from '../../plugins/protocols/openai-responses.ts';

const frame = (event: JsonObject): string => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`;

const usage = {
  input_tokens: 30,
  input_tokens_details: { cached_tokens: 8, cache_write_tokens: 0 },
  output_tokens: 12,
  output_tokens_details: { reasoning_tokens: 5 },
  total_tokens: 42,
};
const counted = { input: 30, cachedInput: 8, cacheWrite: 0, output: 12, reasoning: 5 };
const opening = { id: 'resp_1', object: 'response', created_at: 1_790_000_000, model: 'm', output: [], usage: null };
const place = { item_id: 'msg_1', output_index: 1, content_index: 0 };
const call = { item_id: 'fc_1', output_index: 2 };
const thought = {
  id: 'rs_1',
  type: 'reasoning',
  summary: [{ type: 'summary_text', text: 'Hm…' }],
  encrypted_content: 'gAAA',
};
const calling = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{"ä":1}' };

const events: JsonObject[] = [
  { type: 'response.created', response: opening },
  { type: 'response.in_progress', response: opening },
  { type: 'response.output_item.added', output_index: 0, item: { id: 'rs_1', type: 'reasoning', summary: [] } },
  { type: 'response.reasoning_summary_text.delta', item_id: 'rs_1', output_index: 0, summary_index: 0, delta: 'Hm…' },
  { type: 'response.output_item.done', output_index: 0, item: thought },
  { type: 'response.output_item.added', output_index: 1, item: { id: 'msg_1', type: 'message', content: [] } },
  { type: 'response.output_text.delta', ...place, delta: 'Grüße "type":"error" 🙂' },
  { type: 'response.output_text.delta', ...place, delta: ' aus 東京' },
  { type: 'response.output_item.done', output_index: 1, item: { id: 'msg_1', type: 'message', content: [] } },
  { type: 'response.output_item.added', output_index: 2, item: { ...calling, arguments: '' } },
  { type: 'response.function_call_arguments.delta', ...call, delta: '{"ä":' },
  { type: 'response.function_call_arguments.delta', ...call, delta: '1}' },
  { type: 'response.output_item.done', output_index: 2, item: calling },
  { type: 'response.completed', response: { ...opening, status: 'completed', output: [thought, calling], usage } },
];
const numbered = events.map((event, sequence_number) => ({ ...event, sequence_number }));

const said = { id: 'chatcmpl-1', created: 1_790_000_000, model: 'm' };
const delta = (content: JsonObject, reason: string | null = null) =>
  `data: ${JSON.stringify({ ...said, choices: [{ index: 0, delta: content, finish_reason: reason }] })}\n\n`;
const chunks = [
  delta({ role: 'assistant', content: 'Grüße ' }),
  delta({ content: '🙂 aus 東京' }),
  delta({ tool_calls: [{ index: 0, id: 'call_1', function: { name: 'f', arguments: '{"ä":' } }] }),
  delta({ tool_calls: [{ index: 0, function: { arguments: '1}' } }] }),
  delta({}, 'tool_calls'),
  `data: ${JSON.stringify({ ...said, choices: [], usage: { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 } })}\n\n`,
  'data: [DONE]\n\n',
];

const streams: Record<string, Buffer> = {
  'openai-responses': Buffer.from(numbered.map(frame).join('')),
  'openai-responses with CRLF': Buffer.from(numbered.map(frame).join('').replaceAll('\n', '\r\n')),
  'openai-responses with [DONE]': Buffer.from(`${numbered.map(frame).join('')}data: [DONE]\n\n`),
  'openai-responses without event lines': Buffer.from(
    numbered
      .map(frame)
      .join('')
      .replace(/^event: .*\n/gm, ''),
  ),
  'openai-responses without a last blank line': Buffer.from(numbered.map(frame).join('').trimEnd()),
  'openai-chat': Buffer.from(chunks.join('')),
};

const exchange = {} as Parameters<ReturnType<typeof relayBridge>['stream']>[0];
const asked = responses.readCall({ model: 'shop', input: 'Hi', stream: true }, { path: '', parameter: '', query: '' });

interface View {
  readonly text: string;
  readonly usage: unknown;
  readonly complete: boolean;
}

function viewOf(client: ChatProtocol, vendor: ChatProtocol, pieces: readonly Buffer[]): View {
  const bridge = client === vendor ? relayBridge(client) : translateBridge(client, vendor, []);
  const tap = bridge.stream(exchange, asked);
  const out: Buffer[] = [];
  for (const piece of pieces) out.push(tap.push(piece) ?? Buffer.alloc(0));
  out.push(tap.flush() ?? Buffer.alloc(0), tap.closing());
  const text = Buffer.concat(out).toString();
  // Ids and times are made up anew.
  return {
    text: text.replace(/(resp|msg|fc|rs)_[0-9a-f]{48}/g, '$1').replace(/"completed_at":\d+/g, ''),
    usage: tap.usage,
    complete: tap.complete,
  };
}

const pairs: readonly (readonly [stream: string, client: ChatProtocol, vendor: ChatProtocol])[] = [
  ...Object.keys(streams)
    .filter((name) => name !== 'openai-chat')
    .flatMap((name) => [[name, responses, responses] as const, [name, chat, responses] as const]),
  ['openai-chat', responses, chat],
];

describe.each(pairs)('E. a stream of %s, to a client', (stream, client, vendor) => {
  const bytes = streams[stream]!;
  const whole = viewOf(client, vendor, [bytes]);

  it(`split at every position gives the same view and usage (${client.name})`, () => {
    expect(whole.complete).toBe(true);
    expect(whole.usage).toEqual(
      vendor === chat ? { ...counted, input: 9, cachedInput: 0, output: 4, reasoning: 0 } : counted,
    );
    // Of the rarer forms every third position.
    const step = stream.includes(' ') ? 3 : 1;
    for (let at = 1; at < bytes.length; at += step)
      expect(viewOf(client, vendor, [bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole);
  });

  it(`byte by byte gives the same view and usage (${client.name})`, () => {
    const pieces = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
    expect(viewOf(client, vendor, pieces)).toEqual(whole);
  });
});

describe('the relay', () => {
  it('passes every byte of a stream, the last event last', () => {
    const bytes = streams['openai-responses']!;
    const tap = responses.relay.stream(asked);
    const passed = tap.push(bytes)!;
    expect(Buffer.concat([passed, tap.closing()]).equals(bytes)).toBe(true);
    expect(tap.closing().toString()).toMatch(/^event: response\.completed\n/);
    expect(tap.finished).toBe(true);
  });

  it('hands on nothing behind the last event', () => {
    const tap = responses.relay.stream(asked);
    tap.push(streams['openai-responses']!);
    expect(tap.push(Buffer.from('data: [DONE]\n\n'))).toBeNull();
    expect(tap.flush()).toBeNull();
  });
});
