/** Tools by names that their vendor does not take: it gets others, and the client hears of none of that. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { modelOf, setStreamChannels, vendors } from './pairs.ts';

// biome-ignore lint/suspicious/noExplicitAny: the shapes of two protocols
type Reply = any;

interface Call {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

interface Client {
  readonly protocol: string;
  readonly path: string;
  readonly names: readonly string[];
  /** The second turn has the call of the first, and its result. */
  body(model: string, names: readonly string[], called: Call | null, stream: boolean): object;
  calls(text: string, streamed: boolean): Call[];
}

const prompt = 'Go [calls=1]';
const schema = { type: 'object', properties: {} };
const eventsOf = (text: string): Reply[] =>
  [...text.matchAll(/^data: (\{.*\})\r?$/gm)].map(([, data]) => JSON.parse(data!) as Reply);

const clients: readonly Client[] = [
  {
    protocol: 'openai-chat',
    path: '/v1/chat/completions',
    // Vendors that are merely like OpenAI take such names, and so their clients have them.
    names: ['files/read a file', `mcp__${'x'.repeat(70)}__first`, `mcp__${'x'.repeat(70)}__second`, '42'],
    body: (model, names, called, stream) => ({
      model,
      stream,
      max_tokens: 200,
      messages: [
        { role: 'user', content: prompt },
        ...(called === null
          ? []
          : [
              {
                role: 'assistant',
                content: null,
                tool_calls: [
                  { id: called.id, type: 'function', function: { name: called.name, arguments: called.text } },
                ],
              },
              { role: 'tool', tool_call_id: called.id, content: 'done' },
            ]),
      ],
      tools: names.map((name) => ({
        type: 'function',
        function: { name, description: 'Does it', parameters: schema },
      })),
      tool_choice: called === null ? { type: 'function', function: { name: names[0] } } : 'none',
    }),
    calls(text, streamed) {
      const choices = streamed ? eventsOf(text).flatMap((event) => event.choices) : JSON.parse(text).choices;
      const pieces: Reply[] = choices.flatMap(({ message, delta }: Reply) => (message ?? delta).tool_calls ?? []);
      return pieces
        .filter(({ id }) => id)
        .map(({ id, function: { name } }) => ({
          id,
          name,
          text: pieces.map((one) => one.function.arguments).join(''),
        }));
    },
  },
  {
    protocol: 'anthropic-messages',
    path: '/v1/messages',
    names: [`mcp__${'y'.repeat(100)}__first`, `mcp__${'y'.repeat(100)}__second`, '-plain'],
    body: (model, names, called, stream) => ({
      model,
      stream,
      max_tokens: 200,
      messages: [
        { role: 'user', content: prompt },
        ...(called === null
          ? []
          : [
              {
                role: 'assistant',
                content: [{ type: 'tool_use', id: called.id, name: called.name, input: JSON.parse(called.text) }],
              },
              { role: 'user', content: [{ type: 'tool_result', tool_use_id: called.id, content: 'done' }] },
            ]),
      ],
      tools: names.map((name) => ({ name, description: 'Does it', input_schema: schema })),
      tool_choice: called === null ? { type: 'tool', name: names[0] } : { type: 'none' },
    }),
    calls(text, streamed) {
      if (!streamed)
        return JSON.parse(text)
          .content.filter(({ type }: Reply) => type === 'tool_use')
          .map(({ id, name, input }: Reply) => ({ id, name, text: JSON.stringify(input) }));
      const events = eventsOf(text);
      const input = events.map(({ delta }) => delta?.partial_json ?? '').join('');
      return events
        .flatMap(({ content_block: block }) => (block?.type === 'tool_use' ? [block] : []))
        .map(({ id, name }) => ({ id, name, text: input }));
    },
  },
];

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ edit: setStreamChannels });
});
afterAll(() => stack.close());

const cases = clients.flatMap((client) =>
  vendors
    .filter(({ protocol }) => protocol !== client.protocol)
    .flatMap((vendor) =>
      [false, true].map((streamed) => ({
        client,
        vendor,
        streamed,
        title: `${client.protocol} on ${vendor.protocol}, ${streamed ? 'streamed' : 'whole'}`,
      })),
    ),
);

describe.each(cases)('2.8 odd names of tools, $title', ({ client, vendor, streamed }) => {
  async function ask(names: readonly string[], called: Call | null): Promise<string> {
    const response = await fetch(stack.gateway.url + client.path, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(client.body(modelOf(vendor), names, called, streamed)),
    });
    const text = await response.text();
    expect(response.status, text).toBe(200);
    return text;
  }

  it.each(client.names.map((name) => [name]))('are called and answered by the client’s own name: %s', async (name) => {
    const names = [name, ...client.names.filter((one) => one !== name)];
    const [call, ...others] = client.calls(await ask(names, null), streamed);
    expect(others).toEqual([]);
    expect(call).toMatchObject({ name });
    expect(client.calls(await ask(names, call!), streamed)).toEqual([]);
  });
});
