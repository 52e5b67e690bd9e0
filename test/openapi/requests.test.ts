/** What official SDKs send fits the schemas of requests; so does what nobody has heard of. */
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI, Type } from '@google/genai';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { faultsOf, type Recorded, recordingFetch } from './exchange.ts';
import { createSchemas, type Document, type Schemas } from './validator.ts';

let stack: Stack;
let document: Document;
let schemas: Schemas;
const recorded: Recorded[] = [];

beforeAll(async () => {
  stack = await startStack();
  document = await (await fetch(`${stack.gateway.url}/openapi.json`)).json();
  schemas = createSchemas(document);
});
afterAll(() => stack.close());
beforeEach(() => {
  recorded.length = 0;
});

/** At least `count` requests were made, and all fit. */
function expectFitting(count: number): void {
  expect(recorded.length).toBeGreaterThanOrEqual(count);
  expect(recorded.flatMap((one) => faultsOf(document, schemas, one))).toEqual([]);
}

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const parameters = { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] };
const picture = `data:image/png;base64,${png.toString('base64')}`;

async function drained(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}

describe('the OpenAI SDK', () => {
  const client = () =>
    new OpenAI({ apiKey: stack.key, baseURL: stack.base, fetch: recordingFetch(recorded), maxRetries: 0 });

  test('chat completions with tools, images, a schema and a stream', async () => {
    const { completions } = client().chat;
    const first = await completions.create({
      model: 'demo-chat',
      messages: [
        { role: 'developer', content: 'Answer in one line.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this? Use the tool lookup.' },
            { type: 'image_url', image_url: { url: picture, detail: 'low' } },
          ],
        },
      ],
      tools: [{ type: 'function', function: { name: 'lookup', parameters, strict: true } }],
      tool_choice: { type: 'function', function: { name: 'lookup' } },
      temperature: null,
      seed: 7,
      metadata: { purpose: 'test' },
    });
    const message = first.choices[0]!.message;
    await drained(
      await completions.create({
        model: 'demo-chat',
        messages: [
          { role: 'user', content: 'Look it up.' },
          message,
          { role: 'tool', tool_call_id: message.tool_calls![0]!.id, content: 'It is cold.' },
        ],
        response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: parameters } },
        stream: true,
        stream_options: { include_usage: true },
      }),
    );
    expectFitting(2);
  });

  test('responses with tools, images and a stream', async () => {
    const { responses } = client();
    const first = await responses.create({
      model: 'demo-chat',
      instructions: 'Be brief.',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'What is this?' },
            { type: 'input_image', image_url: picture, detail: 'auto' },
          ],
        },
      ],
      tools: [{ type: 'function', name: 'lookup', parameters, strict: false }],
      tool_choice: { type: 'function', name: 'lookup' },
      text: { format: { type: 'text' } },
    });
    const call = first.output.find((item) => item.type === 'function_call')!;
    const output = { type: 'function_call_output' as const, call_id: call.call_id, output: 'Cold.' };
    await drained(
      await responses.create({ model: 'demo-chat', previous_response_id: first.id, input: [output], stream: true }),
    );
    expectFitting(2);
  });

  test('images, embeddings, moderations, audio, models', async () => {
    const openai = client();
    await openai.images.generate({ model: 'alpha-image-1k', prompt: 'A fox', n: 1, size: '1024x1024' });
    const image = await toFile(png, 'photo.png', { type: 'image/png' });
    await openai.images.edit({ model: 'alpha-image-1k', prompt: 'A hat', image: [image, image] });
    await openai.embeddings.create({ model: 'demo-embedding', input: ['Hello'] });
    await openai.moderations.create({ model: 'omni-moderation-latest', input: [{ type: 'text', text: 'Hello' }] });
    await openai.audio.speech.create({ model: 'demo-tts', input: 'Hello', voice: 'alloy' });
    await openai.models.list();
    await openai.completions.create({ model: 'demo-instruct', prompt: 'Roses are' });
    await openai.videos.create({ model: 'demo-video', prompt: 'A kite', seconds: '4' });
    expectFitting(8);
  });
});

describe('the Anthropic SDK', () => {
  const client = () =>
    new Anthropic({ apiKey: stack.key, baseURL: stack.gateway.url, fetch: recordingFetch(recorded), maxRetries: 0 });

  test('messages with tools, images, thinking and a stream', async () => {
    const { messages } = client();
    const tools = [{ name: 'lookup', description: 'Looks it up.', input_schema: parameters }];
    const question: Anthropic.MessageParam = {
      role: 'user',
      content: [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png.toString('base64') } },
        { type: 'text', text: 'What is this?', cache_control: { type: 'ephemeral' } },
      ],
    };
    const asked = { model: 'demo-claude', max_tokens: 2000, tools, tool_choice: { type: 'any' as const } };
    const first = await messages.create({
      ...asked,
      messages: [question],
      system: [{ type: 'text', text: 'Be brief.' }],
    });
    const use = first.content.find((block) => block.type === 'tool_use')!;
    const result = {
      type: 'tool_result' as const,
      tool_use_id: use.id,
      content: [{ type: 'text' as const, text: 'Cold.' }],
    };
    await drained(
      messages.stream({
        model: 'demo-claude',
        max_tokens: 2000,
        tools,
        messages: [question, { role: 'assistant', content: first.content }, { role: 'user', content: [result] }],
      }),
    );
    const thinking = { type: 'enabled' as const, budget_tokens: 1024 };
    await messages.create({ model: 'demo-claude', max_tokens: 2000, thinking, messages: [question] });
    await messages.countTokens({ model: 'demo-claude', messages: [question], tools });
    expectFitting(4);
  });
});

describe('the Google SDK', () => {
  test('contents with functions, images, a schema and a stream', async () => {
    vi.stubGlobal('fetch', recordingFetch(recorded));
    try {
      const { models } = new GoogleGenAI({ apiKey: stack.key, httpOptions: { baseUrl: stack.gateway.url } });
      const inlineData = { mimeType: 'image/png', data: png.toString('base64') };
      const contents = [{ role: 'user', parts: [{ text: 'What is this?' }, { inlineData }] }];
      const functionDeclarations = [{ name: 'lookup', parametersJsonSchema: parameters }];
      await models.generateContent({
        model: 'demo-gemini',
        contents,
        config: { systemInstruction: 'Be brief.', tools: [{ functionDeclarations }], temperature: 0.5 },
      });
      await drained(
        await models.generateContentStream({
          model: 'demo-gemini',
          contents,
          config: { responseMimeType: 'application/json', responseSchema: { type: Type.STRING } },
        }),
      );
      await models.countTokens({ model: 'demo-gemini', contents });
    } finally {
      vi.unstubAllGlobals();
    }
    expectFitting(3);
  });
});

describe('fields that nobody has heard of', () => {
  const bodies = () =>
    Object.values<Document>(document.paths)
      .flatMap((methods) => Object.values<Document>(methods))
      .flatMap(({ requestBody }) => Object.values<Document>(requestBody?.content ?? {}))
      .filter(({ example }) => example !== undefined);

  /** The example with `x_new` in every object of it. */
  function extended(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(extended);
    if (typeof value !== 'object' || value === null) return value;
    const members = Object.entries(value).map(([key, member]) => [key, extended(member)]);
    return { ...Object.fromEntries(members), x_new: { deep: [1, null, 'text'] } };
  }

  test('every schema of a request takes them', () => {
    expect(bodies().length).toBeGreaterThanOrEqual(15);
    for (const { schema, example } of bodies()) {
      const name = schema.$ref.split('/').at(-1);
      expect([name, schemas.faultsOf(name, extended(example))]).toEqual([name, []]);
    }
  });

  test('kinds of parts, items, blocks and tools that are new are taken', () => {
    const part = { type: 'hologram', hologram: { depth: 3 } };
    const taken: readonly (readonly [string, object])[] = [
      ['ChatRequest', { model: 'm', messages: [{ role: 'user', content: [part] }], tools: [part] }],
      ['ResponsesRequest', { model: 'm', input: [part, { role: 'user', content: [part] }], tools: [part] }],
      ['MessagesRequest', { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: [part] }] }],
      ['GenerateRequest', { contents: [{ role: 'user', parts: [{ hologram: {} }] }] }],
    ];
    for (const [name, body] of taken) expect([name, schemas.faultsOf(name, body)]).toEqual([name, []]);
  });

  test('what is known is still checked', () => {
    const messages = [{ role: 'user', content: [{ type: 'text' }] }];
    expect(schemas.faultsOf('ChatRequest', { model: 'm', messages })).not.toEqual([]);
  });
});
