import type OpenAI from 'openai';
import type { ResponseInputItem } from 'openai/resources/responses/responses';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../engine/plugin.ts';
import compact from '../../plugins/protocols/openai-responses/compact.ts';
import type { Stack } from '../kit/stack.ts';
import {
  all,
  clientOf,
  receivedBodies,
  startResponsesStack,
  translated,
  viaAnthropic,
  viaChat,
  viaGemini,
  viaNative,
  viaReasoner,
} from './support.ts';

const compacts = 'compacts';

let stack: Stack;
let client: OpenAI;
beforeAll(async () => {
  stack = await startResponsesStack({
    edit({ channels, models }) {
      const own = channels.channels['only-responses'];
      for (const name of ['compacting-one', 'compacting-two'])
        channels.channels[name] = {
          ...own,
          credentials: [`sk-${name}`],
          models: { [compacts]: 'gpt-4.1-mini' },
          protocols: ['openai-chat', 'openai-responses', 'openai-responses-compact'],
        };
      models.models[compacts] = { ...models.models[viaNative] };
    },
  });
  client = clientOf(stack);
});
afterAll(() => stack.close());

const sent = () => JSON.stringify(receivedBodies(stack).at(-1));

const conversation: ResponseInputItem[] = [
  { role: 'user', content: 'Build the parser' },
  { type: 'function_call', call_id: 'call_1', name: 'read', arguments: '{"path":"parser.ts"}' },
  { type: 'function_call_output', call_id: 'call_1', output: 'export const x = 1;' },
  { role: 'assistant', content: 'Done in parser.ts' },
];

describe('4.1 POST /v1/responses/compact', () => {
  it.each(translated)('a vendor that has none sums up, and any vendor goes on from it: %s', async (model) => {
    const compacted = await client.responses.compact({ model, input: conversation, instructions: 'Keep file names.' });
    for (const part of ['Build the parser', 'parser.ts', 'export const x = 1;', 'Keep file names.'])
      expect(sent()).toContain(part);
    expect(compacted).toMatchObject({
      object: 'response.compaction',
      id: expect.stringMatching(/^resp_/),
      output: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Build the parser' }] },
        { type: 'compaction', encrypted_content: expect.any(String) },
      ],
    });
    expect(compacted.usage.input_tokens).toBeGreaterThan(0);
    const [row] = await stack.usage();
    expect(row).toMatchObject({
      endpoint: '/v1/responses/compact',
      outcome: 'ok',
      inputTokens: compacted.usage.input_tokens,
      outputTokens: compacted.usage.output_tokens,
    });
    expect(row!.quota).toBeGreaterThan(0);
    for (const next of [...all, viaReasoner, compacts]) {
      const input = [...(compacted.output as ResponseInputItem[]), { role: 'user' as const, content: 'Go on' }];
      const response = await client.responses.create({ model: next, input });
      expect(response.output_text).toContain('Go on');
      expect(sent()).toContain('Summary of the conversation so far');
    }
  });

  it('a vendor that has one is asked, and alone understands what it made', async () => {
    for (let round = 0; round < 4; round++) {
      const compacted = await client.responses.compact({ model: compacts, input: conversation });
      expect(stack.simulator.received.at(-1)!.path).toBe('/openai/v1/responses/compact');
      expect((await stack.usage())[0]).toMatchObject({ inputTokens: compacted.usage.input_tokens });
      const input = [...(compacted.output as ResponseInputItem[]), { role: 'user' as const, content: 'Go on' }];
      const next = await client.responses.create({ model: compacts, input });
      expect(next.status).toBe('completed');
      for (const elsewhere of [viaChat, viaAnthropic, viaGemini])
        await expect(client.responses.create({ model: elsewhere, input })).rejects.toMatchObject({
          status: 400,
          message: expect.stringContaining('compacted by another vendor'),
        });
    }
  });

  it('a kept conversation is compacted by its id', async () => {
    const first = await client.responses.create({ model: viaAnthropic, input: 'Remember the fox' });
    const compacted = await client.responses.compact({ model: viaChat, previous_response_id: first.id });
    expect(sent()).toContain('Remember the fox');
    expect(compacted.output).toMatchObject([{ type: 'message', role: 'user' }, { type: 'compaction' }]);
    await expect(client.responses.compact({ model: viaChat, previous_response_id: 'resp_none' })).rejects.toMatchObject(
      {
        status: 404,
      },
    );
  });

  it('4.1 POST /v1/responses/compact is streamed where the client asks for it', async () => {
    const answer = await stack.post('/responses/compact', { model: viaChat, input: conversation, stream: true });
    const events = (await answer.text())
      .trimEnd()
      .split('\n\n')
      .map((frame) => JSON.parse(frame.slice(frame.indexOf('data: ') + 6)));
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.output_item.done',
      'response.output_item.added',
      'response.compaction.compacting',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    expect(events.at(-1).response).toMatchObject({
      object: 'response.compaction',
      usage: { input_tokens: expect.any(Number) },
    });
  });

  it('a summary without a word is no compaction, also streamed', () => {
    const call = compact.readCall({ model: 'm', input: conversation as never }, { path: '', parameter: '', query: '' });
    const silent: ChatEvent[] = [
      { type: 'start', id: '', model: 'm', created: 1 },
      { type: 'text', choice: 0, text: ' \n' },
      { type: 'finish', choice: 0, reason: 'stop' },
    ];
    const unusable = expect.objectContaining({ code: 'upstream_invalid_response' });
    expect(() => compact.encodeReply(silent, call)).toThrow(unusable);
    expect(() => silent.map(compact.encodeStream(call).encode)).toThrow(unusable);
  });
});
