/** Stop sequences over sockets: every pair of chat protocols ends the same text, whoever applies them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { modelOf, setStreamChannels, vendors } from './pairs.ts';

// biome-ignore lint/suspicious/noExplicitAny: the shapes of four protocols
type Reply = any;

interface Ended {
  readonly text: string;
  readonly reason: string;
}

/** A client protocol that knows stop sequences, whole and streamed. */
interface Client {
  readonly protocol: string;
  path(model: string, streamed: boolean): string;
  body(model: string, prompt: string, stop: readonly string[], stream: boolean): object;
  /** Of a whole reply, or of the events of a stream. */
  read(replies: readonly Reply[]): Ended;
  readonly stopped: string;
}

const joined = (replies: readonly Reply[], read: (reply: Reply) => string | undefined): string =>
  replies.map((reply) => read(reply) ?? '').join('');

const clients: readonly Client[] = [
  {
    protocol: 'openai-chat',
    path: () => '/v1/chat/completions',
    body: (model, prompt, stop, stream) => ({ model, stop, stream, messages: [{ role: 'user', content: prompt }] }),
    read: (replies) => ({
      text: joined(replies, ({ choices: [choice] }) => choice?.message?.content ?? choice?.delta?.content),
      reason: joined(replies, ({ choices: [choice] }) => choice?.finish_reason),
    }),
    stopped: 'stop',
  },
  {
    protocol: 'openai-completions',
    path: () => '/v1/completions',
    body: (model, prompt, stop, stream) => ({ model, stop, stream, prompt, max_tokens: 200 }),
    read: (replies) => ({
      text: joined(replies, ({ choices: [choice] }) => choice?.text),
      reason: joined(replies, ({ choices: [choice] }) => choice?.finish_reason),
    }),
    stopped: 'stop',
  },
  {
    protocol: 'anthropic-messages',
    path: () => '/v1/messages',
    body: (model, prompt, stop_sequences, stream) => ({
      model,
      stop_sequences,
      stream,
      max_tokens: 200,
      messages: [{ role: 'user', content: prompt }],
    }),
    read: (replies) => ({
      text: joined(replies, ({ content, delta }) => content?.[0]?.text ?? delta?.text),
      reason: joined(replies, ({ stop_reason, stop_sequence, delta }) =>
        stop_reason || delta?.stop_reason
          ? `${stop_reason ?? delta.stop_reason} ${stop_sequence ?? delta?.stop_sequence ?? ''}`
          : '',
      ),
    }),
    stopped: 'stop_sequence STOP',
  },
  {
    protocol: 'gemini-generate',
    path: (model, streamed) =>
      `/v1beta/models/${model}:${streamed ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: (_model, prompt, stopSequences) => ({
      contents: [{ role: 'user', parts: [{ text: prompt }] }],
      generationConfig: { stopSequences },
    }),
    read: (replies) => ({
      text: joined(replies, ({ candidates: [candidate] }) => candidate?.content?.parts?.[0]?.text),
      reason: joined(replies, ({ candidates: [candidate] }) => candidate?.finishReason),
    }),
    stopped: 'STOP',
  },
];

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ edit: setStreamChannels });
});
afterAll(() => stack.close());

async function ask(client: Client, model: string, prompt: string, stop: readonly string[], streamed: boolean) {
  const response = await fetch(stack.gateway.url + client.path(model, streamed), {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(client.body(model, prompt, stop, streamed)),
  });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  const lines = streamed ? [...text.matchAll(/^data: (\{.*\})\r?$/gm)].map(([, data]) => data!) : [text];
  return client.read(lines.map((line) => JSON.parse(line) as Reply));
}

const ways = [false, true];
const pairs = clients.flatMap((client) =>
  vendors.flatMap((vendor) => ways.map((streamed) => ({ client, vendor, streamed }))),
);
const titled = pairs.map((pair) => ({
  ...pair,
  title: `${pair.client.protocol} on ${pair.vendor.protocol}, ${pair.streamed ? 'streamed' : 'whole'}`,
}));

describe.each(titled)('2.8 stop sequences, $title', ({ client, vendor, streamed }) => {
  const model = modelOf(vendor);
  const prompt = '[chunks=40] one STO two ST-OP three STOP four';

  it('end the text where one is met', async () => {
    const { text, reason } = await ask(client, model, prompt, ['never', 'STOP'], streamed);
    expect(text).toBe('You said: one STO two ST-OP three ');
    // Only a vendor that says so can name the sequence that it met itself.
    const told = client.protocol !== 'anthropic-messages' || /messages|responses/.test(vendor.protocol);
    expect(reason).toBe(told ? client.stopped : 'end_turn ');
  });

  it('change nothing where none is met', async () => {
    const { text, reason } = await ask(client, model, prompt, ['STOPPED', 'fourth'], streamed);
    expect(text).toContain('You said: one STO two ST-OP three STOP four');
    expect(reason).not.toContain('stop_sequence');
  });

  it('are charged as the vendor counts, to the end of what it said', async () => {
    await ask(client, model, prompt, ['STOP'], streamed);
    const [row] = await stack.usage();
    expect(row).toMatchObject({ model, outcome: 'ok', usageSource: 'measured' });
    const said = vendor.protocol === 'openai-responses' ? prompt.slice('[chunks=40] '.length) : 'one STO two';
    expect(row!.outputTokens).toBeGreaterThanOrEqual(Math.ceil(said.length / 4));
  });
});

describe.each(titled.filter(({ client, vendor }) => client.protocol !== vendor.protocol))(
  '2.8 more stop sequences than a vendor takes, or such as it does not, $title',
  ({ client, vendor, streamed }) => {
    const model = modelOf(vendor);

    it('are applied by the gateway', async () => {
      const stop = ['1111', '2222', '3333', '4444', '5555', '6666', 'STOP'];
      const { text } = await ask(client, model, '[chunks=30] one STO two STOP three', stop, streamed);
      expect(text).toBe('You said: one STO two ');
    });

    it('so are blanks', async () => {
      const { text } = await ask(client, model, '[chunks=30] one two', [' '], streamed);
      expect(text).toBe('You');
    });

    it('and too many are refused', async () => {
      const stop = Array.from({ length: 70 }, (_, index) => `never ${index}`);
      const response = await fetch(stack.gateway.url + client.path(model, streamed), {
        method: 'POST',
        headers: { authorization: `Bearer ${stack.key}`, 'content-type': 'application/json' },
        body: JSON.stringify(client.body(model, 'Hello', stop, streamed)),
      });
      const isTaken = vendor.protocol === 'anthropic-messages';
      expect(response.status).toBe(isTaken ? 200 : 400);
      if (!isTaken) expect(await response.text()).toContain('at most 64 sequences');
    });
  },
);

describe.each(titled.filter(({ client, vendor, streamed }) => streamed && client.protocol !== vendor.protocol))(
  '2.8 a vendor that breaks behind the stop sequence at which the gateway ended the answer, $title',
  ({ client, vendor }) => {
    const model = modelOf(vendor);
    // More than any vendor but Anthropic takes, and a blank, which that one does not.
    const stop = ['1111', '2222', '3333', '4444', '5555', ' '];

    it.each([{ cut: 12 }, { stall: 12 }, { errorframe: 12 }, { malformed: 12 }])(
      'takes nothing away: %o',
      async (fault) => {
        stack.simulator.faults.add({ match: { times: 1 }, fault });
        const { text, reason } = await ask(client, model, '[chunks=30] one two three four five six', stop, true);
        expect(text).toBe('You');
        expect(reason).toBe(client.protocol === 'anthropic-messages' ? 'stop_sequence  ' : client.stopped);
        const rows = (await stack.usage()).filter((row) => row.model === model);
        expect(rows[0]).toMatchObject({ outcome: 'ok', usageSource: 'estimated', attempts: 1 });
        expect(rows[0]!.outputTokens).toBeGreaterThan(0);
        expect(new Set(rows.map(({ requestId }) => requestId)).size).toBe(rows.length);
      },
    );
  },
);
