import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { post, useSimulator } from './start.ts';

const simulator = useSimulator();
const base = (): string => `${simulator.current.url}/openai/v1`;
const client = (): OpenAI => new OpenAI({ apiKey: 'sk-good', baseURL: base(), maxRetries: 0 });
const model = 'text-embedding-3-small';
const embed = (body: object) => post(`${base()}/embeddings`, { model, input: 'Hello there', ...body });
const similarity = (a: number[], b: number[]): number => a.reduce((sum, value, index) => sum + value * b[index]!, 0);

describe('embeddings', () => {
  it('are the same through base64, which the official client asks for, and as floats', async () => {
    const asFloats = await client().embeddings.create({ model, input: 'Hello there', encoding_format: 'float' });
    const asBase64 = await client().embeddings.create({ model, input: 'Hello there' });
    expect((simulator.current.received.at(-1)!.body as { encoding_format: string }).encoding_format).toBe('base64');
    const floats = asFloats.data[0]!.embedding;
    expect(floats).toHaveLength(1536);
    expect(asBase64.data[0]!.embedding).toEqual(floats.map(Math.fround));
    expect(asFloats).toMatchObject({ object: 'list', model, usage: { prompt_tokens: 3, total_tokens: 3 } });
  });

  it('write base64 as little-endian float32', async () => {
    const floats = (await embed({ dimensions: 4 })).body.data[0].embedding;
    const bytes = Buffer.from(
      (await embed({ dimensions: 4, encoding_format: 'base64' })).body.data[0].embedding,
      'base64',
    );
    expect([0, 4, 8, 12].map((at) => bytes.readFloatLE(at))).toEqual(floats.map(Math.fround));
  });

  it('depend on the text alone, keep its order, have length 1 and lie near texts with the same words', async () => {
    const input = ['red apples are sweet', 'sweet are red apples', 'the train leaves at noon'];
    const reply = await client().embeddings.create({ model, input, encoding_format: 'float' });
    const [first, second, third] = reply.data.map(({ embedding }) => embedding) as [number[], number[], number[]];
    expect(reply.data.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(similarity(first, first)).toBeCloseTo(1, 5);
    expect(similarity(first, second)).toBeGreaterThan(0.7);
    expect(similarity(first, third)).toBeLessThan(0.3);
    const alone = await client().embeddings.create({ model, input: input[2]!, encoding_format: 'float' });
    expect(alone.data[0]!.embedding).toEqual(third);
  });

  it('take token arrays, count their tokens, and shorten to the asked dimensions', async () => {
    expect((await embed({ input: [1, 2, 3, 4] })).body).toMatchObject({
      data: [{ index: 0 }],
      usage: { total_tokens: 4 },
    });
    const lists = await embed({
      input: [
        [1, 2],
        [3, 4, 5],
      ],
      model: 'text-embedding-3-large',
      dimensions: 256,
    });
    expect(lists.body.usage).toEqual({ prompt_tokens: 5, total_tokens: 5 });
    expect(lists.body.data.map(({ embedding }: { embedding: number[] }) => embedding.length)).toEqual([256, 256]);
    const short = lists.body.data[0].embedding;
    expect(similarity(short, short)).toBeCloseTo(1, 5);
    expect((await embed({ model: 'text-embedding-3-large' })).body.data[0].embedding).toHaveLength(3072);
  });

  it('come for 2048 inputs and are refused for one more', async () => {
    const input = Array.from({ length: 2048 }, (_, index) => `text ${index}`);
    expect((await embed({ input, dimensions: 8 })).body.data).toHaveLength(2048);
    expect((await embed({ input: [...input, 'x'] })).body.error).toMatchObject({
      param: 'input',
      code: 'array_above_max_length',
    });
  });

  it.each([
    [{ input: '' }, 'input', null],
    [{ input: ['a', ''] }, 'input', null],
    [{ input: [] }, 'input', 'empty_array'],
    [{ input: [[]] }, 'input[0]', 'empty_array'],
    [{ input: ['a', 1] }, 'input[1]', 'invalid_type'],
    [{ input: null }, 'input', 'missing_required_parameter'],
    [{ input: 'long '.repeat(7000) }, 'input', null],
    [{ input: new Array(50).fill('long '.repeat(6000)) }, null, 'max_tokens_per_request'],
    [{ encoding_format: 'hex' }, 'encoding_format', 'invalid_value'],
    [{ dimensions: 0 }, 'dimensions', 'integer_below_min_value'],
    [{ dimensions: 2000 }, 'dimensions', null],
    [{ dimensions: 8, model: 'text-embedding-ada-002' }, 'dimensions', null],
    [{ foo: 1 }, 'foo', 'unknown_parameter'],
  ])('are refused for %j', async (body, param, code) => {
    const reply = await embed(body);
    expect(reply.status).toBe(400);
    expect(reply.body.error).toMatchObject({ param, code });
  });

  it('come from embedding models only', async () => {
    expect((await embed({ model: 'gpt-5.5' })).status).toBe(404);
    expect((await embed({ model: 'gpt-nope' })).body.error.code).toBe('model_not_found');
  });

  it('follow the faults of a whole answer', async () => {
    expect((await embed({ model: `${model}!nousage` })).body.usage).toBeUndefined();
    expect(await embed({ model: `${model}!status=429,retryAfter=2` })).toMatchObject({
      status: 429,
      body: { error: { code: 'rate_limit_exceeded' } },
    });
    await expect(embed({ model: `${model}!malformed` })).rejects.toThrow(SyntaxError);
    await expect(embed({ model: `${model}!cut` })).rejects.toThrow();
    expect((await embed({ model: `${model}!refuse=safety` })).status).toBe(400);
    expect((await embed({ model: `${model}!lenient`, foo: 1 })).status).toBe(200);
  });
});

describe('moderations', () => {
  it('flag what contains the word violence, with one result for each text', async () => {
    const reply = await client().moderations.create({ input: ['a calm day', 'sheer Violence'] });
    expect(reply.model).toBe('omni-moderation-latest');
    expect(reply.results.map(({ flagged }) => flagged)).toEqual([false, true]);
    expect(reply.results[1]!.categories).toMatchObject({ violence: true, 'violence/graphic': false, hate: false });
    expect(reply.results[1]!.category_scores.violence).toBeGreaterThan(0.5);
    expect(reply.results[0]!.category_scores.violence).toBeLessThan(0.01);
    expect(Object.keys(reply.results[0]!.categories)).toHaveLength(13);
    expect(reply).not.toHaveProperty('usage');
  });

  it('take text and image together as one result', async () => {
    const reply = await client().moderations.create({
      model: 'omni-moderation-latest',
      input: [
        { type: 'text', text: 'look' },
        { type: 'image_url', image_url: { url: 'https://example.com/violence.png' } },
      ],
    });
    expect(reply.results).toHaveLength(1);
    expect(reply.results[0]).toMatchObject({
      flagged: true,
      category_applied_input_types: { violence: ['text', 'image'], hate: ['text'] },
    });
  });

  it.each([
    [{}, 'input'],
    [{ input: [] }, 'input'],
    [{ input: [{ type: 'audio' }] }, 'input[0].type'],
    [{ input: [{ type: 'image_url', image_url: { url: 'nowhere' } }] }, 'input'],
    [{ input: 'x', foo: 1 }, 'foo'],
  ])('refuse %j', async (body, param) => {
    const reply = await post(`${base()}/moderations`, body);
    expect(reply).toMatchObject({ status: 400, body: { error: { param } } });
  });

  it('come from moderation models only', async () => {
    expect((await post(`${base()}/moderations`, { model: 'gpt-5.5', input: 'x' })).status).toBe(404);
  });
});
