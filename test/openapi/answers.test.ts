/** What the gateway really answers fits what the document says: whole, streamed, refused, broken. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { faultsOf, type Recorded, recordingFetch } from './exchange.ts';
import { createSchemas, type Document, type Schemas } from './validator.ts';

let stack: Stack;
let document: Document;
let schemas: Schemas;
const recorded: Recorded[] = [];
const send = recordingFetch(recorded);

beforeAll(async () => {
  stack = await startStack();
  document = await (await fetch(`${stack.gateway.url}/openapi.json`)).json();
  schemas = createSchemas(document);
});
afterAll(() => stack.close());

type Headers = Readonly<Record<string, string>>;

/** Sends and holds against the document. */
async function ask(method: string, path: string, body: unknown = null, headers: Headers = {}): Promise<Response> {
  recorded.length = 0;
  const isForm = body instanceof FormData;
  const response = await send(stack.gateway.url + path, {
    method,
    headers: {
      authorization: `Bearer ${stack.key}`,
      ...(isForm || body === null ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === null ? {} : { body: isForm ? body : JSON.stringify(body) }),
  });
  expect(recorded.flatMap((one) => faultsOf(document, schemas, one))).toEqual([]);
  return response;
}

const post = (path: string, body: unknown, headers: Headers = {}) => ask('POST', path, body, headers);

async function expectStatus(status: number, asked: Promise<Response>): Promise<Response> {
  const response = await asked;
  expect(response.status, await response.clone().text()).toBe(status);
  return response;
}

const ok = (asked: Promise<Response>) => expectStatus(200, asked);

function formOf(fields: Readonly<Record<string, string | File>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const photo = () => new File([png], 'photo.png', { type: 'image/png' });

/** A tenth of a second of silence, and then some. */
function recording(): File {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + 6400, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(16_000, 24);
  head.writeUInt32LE(32_000, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(6400, 40);
  return new File([head, Buffer.alloc(6400)], 'hello.wav', { type: 'audio/wav' });
}

const hello = [{ role: 'user', content: 'Hello' }];
/** Models of vendors that speak different protocols: each route is relayed for one and translated for the others. */
const chatModels = ['demo-chat', 'demo-reasoner', 'demo-claude', 'demo-gemini'];
const tool = {
  name: 'lookup',
  description: 'Looks something up.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const schema = tool.parameters;

describe.each(chatModels)('4.1 conversations with %s', (model) => {
  test('POST /v1/chat/completions', async () => {
    await ok(post('/v1/chat/completions', { model, messages: hello }));
    await ok(
      post('/v1/chat/completions', { model, messages: hello, stream: true, stream_options: { include_usage: true } }),
    );
    const tools = [{ type: 'function', function: tool }];
    const messages = [{ role: 'user', content: 'What is the weather in Oslo? Use the lookup tool.' }];
    for (const stream of [false, true])
      await ok(post('/v1/chat/completions', { model, messages, tools, tool_choice: 'required', stream }));
  });

  test('POST /v1/responses', async () => {
    for (const stream of [false, true]) {
      await ok(post('/v1/responses', { model, input: 'Hello', store: false, stream }));
      const tools = [{ type: 'function', ...tool, strict: false }];
      await ok(
        post('/v1/responses', { model, input: 'Use lookup.', store: false, tools, tool_choice: 'required', stream }),
      );
    }
    await ok(post('/v1/responses/compact', { model, input: hello }));
    await ok(post('/v1/responses/input_tokens', { model, input: 'Hello' }));
  });

  test('POST /v1/messages', async () => {
    for (const stream of [false, true]) {
      await ok(post('/v1/messages', { model, max_tokens: 100, messages: hello, stream }));
      const tools = [{ name: tool.name, description: tool.description, input_schema: schema }];
      const asked = { model, max_tokens: 100, messages: hello, tools, tool_choice: { type: 'any' }, stream };
      await ok(post('/v1/messages', asked));
    }
    await ok(post('/v1/messages/count_tokens', { model, messages: hello }));
  });

  test('any /v1beta/models/{model}:{action}', async () => {
    const contents = [{ role: 'user', parts: [{ text: 'Hello' }] }];
    const functionCallingConfig = { mode: 'ANY' };
    const tools = [{ functionDeclarations: [{ name: tool.name, parametersJsonSchema: schema }] }];
    const path = `/v1beta/models/${model}`;
    for (const body of [{ contents }, { contents, tools, toolConfig: { functionCallingConfig } }]) {
      await ok(post(`${path}:generateContent`, body));
      await ok(post(`${path}:streamGenerateContent`, body));
      await ok(post(`${path}:streamGenerateContent?alt=sse`, body));
    }
    await ok(post(`${path}:countTokens`, { contents }));
  });
});

test('an answer that lacks a field or has another type is found', async () => {
  await ok(post('/v1/chat/completions', { model: 'demo-chat', messages: hello }));
  const [good] = recorded as [Recorded];
  const wrong = (answer: string) => faultsOf(document, schemas, { ...good, answer });
  expect(wrong(good.answer.replace('"choices"', '"choice"'))[0]).toContain("required property 'choices'");
  expect(wrong(good.answer.replace(/"created":(\d+)/, '"created":"$1"'))[0]).toContain('must be integer');
  expect(faultsOf(document, schemas, { ...good, request: { model: 'demo-chat' } })[0]).toContain("'messages'");
  expect(faultsOf(document, schemas, { ...good, contentType: 'text/html' })).toEqual(['an answer of text/html']);
});

test('4.1 POST /v1/completions', async () => {
  for (const stream of [false, true])
    await ok(post('/v1/completions', { model: 'demo-instruct', prompt: ['Roses are', 'Violets are'], stream }));
});

test('4.1 thoughts and pictures in a conversation', async () => {
  const thinking = { type: 'enabled', budget_tokens: 1024 };
  for (const stream of [false, true]) {
    await ok(post('/v1/messages', { model: 'demo-claude', max_tokens: 2000, messages: hello, thinking, stream }));
    await ok(post('/v1/chat/completions', { model: 'demo-claude', messages: hello, reasoning_effort: 'high', stream }));
    const reasoning = { effort: 'high', summary: 'auto' };
    await ok(post('/v1/responses', { model: 'demo-reasoner', input: 'Hello', store: false, reasoning, stream }));
    await ok(post('/v1/chat/completions', { model: 'beta-3-pro-image', messages: hello, stream }));
  }
});

test('4.1 stored responses', async () => {
  const response = await ok(post('/v1/responses', { model: 'demo-chat', input: 'Hello', store: true }));
  const { id } = (await response.json()) as Document;
  await ok(ask('GET', `/v1/responses/${id}`));
  await ok(ask('GET', `/v1/responses/${id}/input_items`));
  await ok(ask('DELETE', `/v1/responses/${id}`));
  await expectStatus(404, ask('GET', `/v1/responses/${id}`));
});

test('4.2, 4.3 images', async () => {
  for (const model of ['alpha-image-1k', 'beta-3-pro-image', 'gamma-imagine-image'])
    for (const asked of [{ response_format: 'url' }, { response_format: 'b64_json', stream: true, partial_images: 1 }])
      await ok(post('/v1/images/generations', { model, prompt: 'A fox', ...asked }));
  for (const stream of ['false', 'true'])
    await ok(post('/v1/images/edits', formOf({ model: 'alpha-image-1k', prompt: 'A hat', image: photo(), stream })));
});

test('4.1 videos', async () => {
  const asked = { model: 'demo-video', prompt: 'A kite', seconds: '4' };
  const { id } = (await (await ok(post('/v1/videos', asked))).json()) as Document;
  await ok(post('/v1/videos', formOf({ model: 'demo-video', prompt: 'A kite', seconds: '4' })));
  const compatible = (await (await ok(post('/v1/video/generations', asked))).json()) as Document;
  await ok(ask('GET', `/v1/video/generations/${compatible.task_id}`));
  await expectStatus(409, ask('GET', `/v1/videos/${id}/content`));
  await expect
    .poll(async () => (await (await ok(ask('GET', `/v1/videos/${id}`))).json()) as Document, { timeout: 20_000 })
    .toMatchObject({ status: 'completed', metadata: { storage: { status: 'ready' } } });
  await expectStatus(302, ask('GET', `/v1/videos/${id}/content`));
  await ok(ask('GET', '/v1/videos'));
  await ok(ask('DELETE', `/v1/videos/${id}`));
  await expectStatus(404, ask('GET', `/v1/videos/${id}`));
}, 30_000);

test('4.1 embeddings, rerank, moderations', async () => {
  for (const model of ['demo-embedding', 'demo-embedding-gemini', 'demo-embedding-jina'])
    for (const encoding_format of ['float', 'base64'])
      await ok(post('/v1/embeddings', { model, input: ['Hello', 'Goodbye'], encoding_format }));
  for (const model of ['demo-rerank', 'demo-rerank-jina'])
    await ok(
      post('/v1/rerank', { model, query: 'Norway', documents: ['Oslo', { text: 'Bergen' }], return_documents: true }),
    );
  await ok(post('/v1/moderations', { input: ['Hello', 'Goodbye'] }));
});

test('4.1 audio', async () => {
  const formats = ['json', 'text', 'srt', 'vtt', 'verbose_json'];
  for (const response_format of formats) {
    const fields = { model: 'demo-whisper', response_format };
    await ok(post('/v1/audio/transcriptions', formOf({ ...fields, file: recording() })));
    await ok(post('/v1/audio/translations', formOf({ ...fields, file: recording() })));
  }
  await ok(post('/v1/audio/transcriptions', formOf({ model: 'demo-transcribe', stream: 'true', file: recording() })));
  for (const response_format of ['mp3', 'wav', 'opus'])
    await ok(post('/v1/audio/speech', { model: 'demo-tts', input: 'Hello', voice: 'alloy', response_format }));
  await ok(post('/v1/audio/speech', { model: 'demo-tts-mini', input: 'Hello', voice: 'alloy', stream_format: 'sse' }));
});

test('4.1 GET /v1/models in every form', async () => {
  const forms: Headers[] = [
    {},
    { authorization: '', 'x-api-key': stack.key, 'anthropic-version': '2023-06-01' },
    { authorization: '', 'x-goog-api-key': stack.key },
  ];
  for (const headers of forms) {
    await ok(ask('GET', '/v1/models', null, headers));
    await ok(ask('GET', '/v1/models/demo-chat', null, headers));
  }
  await ok(ask('GET', '/v1beta/models'));
  await ok(ask('GET', '/v1beta/models/demo-gemini'));
});

describe('7 errors have the form of their route', () => {
  const posts: readonly (readonly [string, object])[] = [
    ['/v1/chat/completions', { messages: hello }],
    ['/v1/completions', { prompt: 'Hello' }],
    ['/v1/responses', { input: 'Hello' }],
    ['/v1/messages', { messages: hello, max_tokens: 10 }],
    ['/v1beta/models/demo-none:generateContent', { contents: [{ parts: [{ text: 'Hello' }] }] }],
    ['/v1/images/generations', { prompt: 'A fox' }],
    ['/v1/embeddings', { input: 'Hello' }],
    ['/v1/rerank', { query: 'Hello', documents: ['Hello'] }],
    ['/v1/audio/speech', { input: 'Hello', voice: 'alloy' }],
  ];

  test.each(posts)('POST %s', async (path, body) => {
    await expectStatus(404, post(path, { model: 'demo-none', ...body }));
    await expectStatus(401, post(path, { model: 'demo-none', ...body }, { authorization: 'Bearer sk-wrong' }));
  });

  test.each(['/v1/models/none', '/v1beta/models/none', '/v1/responses/resp_none', '/v1/videos/video_none'])(
    'GET %s',
    async (path) => {
      await expectStatus(404, ask('GET', path));
      await expectStatus(401, ask('GET', path, null, { authorization: 'Bearer sk-wrong' }));
    },
  );
});

describe('a stream that breaks ends with an error in the form of its route', () => {
  const streams: readonly (readonly [string, object])[] = [
    ['/v1/chat/completions', { model: 'demo-chat', messages: hello, stream: true }],
    ['/v1/responses', { model: 'demo-chat', input: 'Hello', store: false, stream: true }],
    ['/v1/messages', { model: 'demo-claude', max_tokens: 100, messages: hello, stream: true }],
    ['/v1beta/models/demo-gemini:streamGenerateContent?alt=sse', { contents: [{ parts: [{ text: 'Hello' }] }] }],
  ];

  test.each(streams)('POST %s', async (path, body) => {
    stack.simulator.faults.add({ match: { times: 1 }, fault: { cut: 4 } });
    await ok(post(path, body));
    expect(recorded[0]?.answer).toContain('request id');
  });
});
