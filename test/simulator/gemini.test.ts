import { describe, expect, it } from 'vitest';
import { createPictures } from '../../simulator/images/pictures.ts';
import { decodeImage } from './pixels.ts';
import { payloadsOf, post, useSimulator } from './start.ts';

const simulator = useSimulator();
const base = (): string => `${simulator.current.url}/gemini/v1beta`;
const contents = [{ role: 'user', parts: [{ text: 'Hello' }] }];
const generate = (body: object, model = 'gemini-3.6-flash', headers = {}) =>
  post(`${base()}/models/${model}:generateContent`, { contents, ...body }, headers);
const image = (imageConfig: object, model = 'gemini-3.1-flash-image') =>
  generate({ generationConfig: { responseModalities: ['IMAGE'], imageConfig } }, model);
const PNG = createPictures('exact')
  .draw({ format: 'png', width: 1600, height: 900, seed: 'i' })
  .bytes.toString('base64');
const pictureOf = (part: { inlineData: { data: string } }) => decodeImage(Buffer.from(part.inlineData.data, 'base64'));

describe('text', () => {
  it('answers with usage', async () => {
    const { status, body } = await generate({});
    expect(status).toBe(200);
    expect(body.candidates[0]).toMatchObject({
      index: 0,
      finishReason: 'STOP',
      content: { role: 'model', parts: [{ text: 'You said: Hello – Grüße aus 東京 🙂' }] },
    });
    expect(body.usageMetadata).toMatchObject({ promptTokenCount: 2, candidatesTokenCount: 8, totalTokenCount: 10 });
    expect(body.modelVersion).toBe('gemini-3.6-flash');
  });

  const stream = async (query: string) => {
    const response = await fetch(`${base()}/models/gemini-3.6-flash:streamGenerateContent${query}`, {
      method: 'POST',
      headers: { 'x-goog-api-key': 'k', 'content-type': 'application/json' },
      body: JSON.stringify({ contents }),
    });
    return { type: response.headers.get('content-type'), text: await response.text() };
  };
  const textOf = (chunks: { candidates: { content: { parts: { text: string }[] } }[] }[]): string =>
    chunks.map(({ candidates }) => candidates[0]!.content.parts[0]!.text).join('');

  it('streams as events without [DONE], and as one JSON array', async () => {
    const events = await stream('?alt=sse');
    expect(events.type).toBe('text/event-stream');
    const chunks = payloadsOf(events.text).map((payload) => JSON.parse(payload));
    expect(chunks).toHaveLength(8);
    expect(chunks.at(-1).candidates[0].finishReason).toBe('STOP');
    expect(chunks.at(-1).usageMetadata.totalTokenCount).toBe(10);
    const array = await stream('');
    expect(array.type).toContain('application/json');
    expect(textOf(JSON.parse(array.text))).toBe(textOf(chunks));
  });

  it('calls functions, with a thought signature that must come back', async () => {
    const tools = [
      {
        functionDeclarations: [
          { name: 'lookup', parametersJsonSchema: { type: 'object', properties: { q: { type: 'string' } } } },
        ],
      },
    ];
    const { body } = await generate({ tools });
    const part = body.candidates[0].content.parts[0];
    expect(part).toMatchObject({
      functionCall: { name: 'lookup', args: { q: 'Zürich' } },
      thoughtSignature: expect.any(String),
    });
    const answered = (call: object, responses: number) =>
      generate({
        tools,
        contents: [
          ...contents,
          { role: 'model', parts: [call] },
          {
            role: 'user',
            parts: new Array(responses).fill({ functionResponse: { name: 'lookup', response: { ok: 1 } } }),
          },
        ],
      });
    expect((await answered(part, 1)).body.candidates[0].content.parts[0].text).toContain('You said');
    expect((await answered({ functionCall: part.functionCall }, 1)).body.error.message).toContain('thought_signature');
    expect((await answered(part, 2)).body.error.message).toContain('number of function response parts');
  });

  it('accepts snake case and a lone value for a list', async () => {
    const body = {
      contents: { parts: { text: 'x' } },
      system_instruction: { parts: { text: 'short' } },
      generation_config: { max_output_tokens: 2 },
    };
    const reply = await generate(body);
    expect(reply.body.candidates[0]).toMatchObject({ finishReason: 'MAX_TOKENS' });
  });

  it('counts tokens and lists models', async () => {
    const count = await post(`${base()}/models/gemini-3.6-flash:countTokens`, { contents });
    expect(count.body).toEqual({ totalTokens: 2, promptTokensDetails: [{ modality: 'TEXT', tokenCount: 2 }] });
    const get = async (path: string) =>
      (await (await fetch(`${base()}${path}`)).json()) as {
        name: string;
        models: { name: string }[];
        nextPageToken: string;
      };
    const first = await get('/models?key=k&pageSize=2');
    expect(first.models.map(({ name }: { name: string }) => name)).toEqual([
      'models/gemini-3-pro-image',
      'models/gemini-3.1-flash-image',
    ]);
    const rest = await get(`/models?key=k&pageToken=${first.nextPageToken}`);
    expect(rest.models.map(({ name }) => name).slice(0, 3)).toEqual([
      'models/gemini-3.6-flash',
      'models/gemini-2.5-flash',
      'models/gemini-embedding-001',
    ]);
    expect((await get('/models/gemini-3.6-flash?key=k')).name).toBe('models/gemini-3.6-flash');
  });
});

describe('images', () => {
  it.each([
    ['gemini-3.1-flash-image', '16:9', '2K', 'jpeg', 2752, 1536],
    ['gemini-3.1-flash-image', '8:1', '512', 'jpeg', 1536, 192],
    ['gemini-3-pro-image', '1:1', '4K', 'png', 4096, 4096],
    ['gemini-3-pro-image', '21:9', '1K', 'png', 1584, 672],
  ])('%s at %s and %s', async (model, aspectRatio, imageSize, format, width, height) => {
    const { body } = await image({ aspectRatio, imageSize }, model);
    const [interim, final, ...rest] = body.candidates[0].content.parts;
    expect(interim).toMatchObject({ thought: true, inlineData: { mimeType: `image/${format}` } });
    expect(pictureOf(interim).width).toBe(width / 2);
    expect(pictureOf(final)).toEqual({ format, width, height });
    expect(final.thought).toBeUndefined();
    expect(rest).toEqual([]);
    expect(body.usageMetadata.candidatesTokensDetails[0].modality).toBe('IMAGE');
  });

  it('default to 1:1 and 1K, or to the ratio of the input image, and speak when text is allowed', async () => {
    const plain = (await generate({}, 'gemini-3-pro-image')).body.candidates[0].content.parts;
    expect(plain[1].text).toBeTypeOf('string');
    expect(pictureOf(plain[2])).toMatchObject({ width: 1024, height: 1024 });
    const parts = [{ text: 'edit' }, { inlineData: { mimeType: 'image/png', data: PNG } }];
    const edited = (await generate({ contents: [{ parts }] }, 'gemini-3-pro-image')).body;
    expect(pictureOf(edited.candidates[0].content.parts[2])).toMatchObject({ width: 1376, height: 768 });
    expect(edited.usageMetadata.promptTokensDetails).toContainEqual({ modality: 'IMAGE', tokenCount: 258 });
  });

  it('stream the interim and the final image in events of their own', async () => {
    const response = await fetch(`${base()}/models/gemini-3-pro-image:streamGenerateContent?alt=sse&key=k`, {
      method: 'POST',
      body: JSON.stringify({ contents, generationConfig: { responseModalities: ['IMAGE'] } }),
    });
    const parts = payloadsOf(await response.text()).map(
      (payload) => JSON.parse(payload).candidates[0].content.parts[0],
    );
    expect(parts.map(({ thought }) => thought)).toEqual([true, undefined]);
    expect(pictureOf(parts[1]).width).toBe(1024);
  });

  it('take 14 input images and refuse 15', async () => {
    const parts = (count: number) => [
      { text: 'x' },
      ...new Array(count).fill({ inlineData: { mimeType: 'image/png', data: PNG } }),
    ];
    expect((await generate({ contents: [{ parts: parts(14) }] }, 'gemini-3-pro-image')).status).toBe(200);
    expect((await generate({ contents: [{ parts: parts(15) }] }, 'gemini-3-pro-image')).status).toBe(400);
  });
});

describe('refuses', () => {
  const refusal = (reply: { status: number; body: { error: { status: string; message: string } } }) => {
    expect(reply).toMatchObject({ status: 400, body: { error: { code: 400, status: 'INVALID_ARGUMENT' } } });
    return reply.body.error.message;
  };

  it.each([
    [{ foo: 1 }, '', 'Unknown name "foo"'],
    [{ generationConfig: { n: 1 } }, 'generation_config', 'Unknown name "n" at \'generation_config\''],
    [
      { generation_config: { image_config: { quality: 'high' } } },
      'generation_config.image_config',
      'Unknown name "quality"',
    ],
    [{ contents: [{ parts: [{ text: 'x', image: 1 }] }] }, 'contents[0].parts[0]', 'Unknown name "image"'],
    [
      { tools: [{ functionDeclarations: [{ name: 'f', strict: true }] }] },
      'tools[0].function_declarations[0]',
      'Unknown name "strict"',
    ],
    [{ generationConfig: { responseModalities: ['PICTURE'] } }, 'generation_config.response_modalities[0]', 'Modality'],
    [{ generationConfig: { temperature: 'hot' } }, 'generation_config.temperature', 'TYPE_FLOAT'],
    [
      { contents: [{ parts: [{ inlineData: { mimeType: 'image/png', data: '%%%' } }] }] },
      'contents[0].parts[0].inline_data.data',
      'Base64',
    ],
    [{ contents: [] }, 'contents', 'contents is not specified'],
  ])('%j', async (body, field, text) => {
    const reply = await generate(body);
    expect(refusal(reply)).toContain(text);
    expect(reply.body.error.details[0].fieldViolations[0].field).toBe(field);
  });

  it.each([
    [{ imageSize: '1k' }, 'gemini-3-pro-image'],
    [{ imageSize: '512' }, 'gemini-3-pro-image'],
    [{ aspectRatio: '8:1' }, 'gemini-3-pro-image'],
    [{ aspectRatio: '16:10' }, 'gemini-3.1-flash-image'],
    [{ outputMimeType: 'image/png' }, 'gemini-3.1-flash-image'],
  ])('imageConfig %j on %s', async (config, model) => {
    refusal(await image(config, model));
  });

  it('several candidates of an image, an image of a text model, a part of two kinds, a strange role', async () => {
    refusal(await generate({ generationConfig: { candidateCount: 2 } }, 'gemini-3-pro-image'));
    refusal(await generate({ generationConfig: { responseModalities: ['IMAGE'] } }));
    refusal(await generate({ contents: [{ parts: [{ text: 'x', fileData: { fileUri: 'u' } }] }] }));
    refusal(await generate({ contents: [{ role: 'assistant', parts: [{ text: 'x' }] }] }));
  });

  it('bad keys with 400, spent ones with 429, none with 403, unknown models with 404', async () => {
    const bad = await generate({}, undefined, { 'x-goog-api-key': 'bad' });
    expect(refusal(bad)).toBe('API key not valid. Please pass a valid API key.');
    expect(bad.body.error.details[0].reason).toBe('API_KEY_INVALID');
    const spent = await generate({}, undefined, { 'x-goog-api-key': 'quota' });
    expect(spent).toMatchObject({ status: 429, body: { error: { status: 'RESOURCE_EXHAUSTED' } } });
    expect((await generate({}, undefined, { 'x-goog-api-key': '' })).status).toBe(403);
    expect((await generate({}, 'gemini-9')).body.error).toMatchObject({ code: 404, status: 'NOT_FOUND' });
    expect((await post(`${base()}/models/gemini-3.6-flash:generateContent`, '{')).status).toBe(400);
  });
});
