import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { clientOf, lastRow, startVendor, startWith } from './support.ts';

interface Answered {
  readonly model: string;
  readonly data: readonly { readonly index: number; readonly embedding: string | number[] }[];
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number };
}

describe('4.1 POST /v1/embeddings', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack();
  });
  afterAll(() => stack.close());

  const ask = async (body: object): Promise<Answered> => {
    const answer = await stack.post('/embeddings', { model: 'demo-embedding', ...body });
    expect(answer.status).toBe(200);
    return (await answer.json()) as Answered;
  };
  const refused = async (body: object) => {
    const answer = await stack.post('/embeddings', { model: 'demo-embedding', input: 'text', ...body });
    const { error } = (await answer.json()) as { error: { code: string; param: string; message: string } };
    return { status: answer.status, ...error };
  };

  it('the official SDK asks for Base64 and gets numbers', async () => {
    const { data, usage } = await clientOf(stack).embeddings.create({ model: 'demo-embedding', input: 'Hello world' });
    expect(data[0]!.embedding).toHaveLength(1536);
    expect(data[0]!.embedding.every((number) => typeof number === 'number')).toBe(true);
    expect(usage.prompt_tokens).toBe(3);
    expect(stack.simulator.received.at(-1)!.body).toMatchObject({ encoding_format: 'base64', input: 'Hello world' });
  });

  it('numbers and Base64 are the same vector', async () => {
    const numbers = await ask({ input: 'the same', dimensions: 8 });
    const base64 = await ask({ input: 'the same', dimensions: 8, encoding_format: 'base64' });
    const bytes = Buffer.from(base64.data[0]!.embedding as string, 'base64');
    expect(bytes).toHaveLength(32);
    for (const [index, number] of (numbers.data[0]!.embedding as number[]).entries())
      expect(bytes.readFloatLE(index * 4)).toBeCloseTo(number, 5);
  });

  it.each([
    ['a string', 'one two', 1],
    ['strings', ['one', 'two', 'three'], 3],
    ['tokens', [1, 2, 3], 1],
    ['lists of tokens', [[1, 2], [3]], 2],
  ])('%s is answered in its order', async (_name, input, count) => {
    const { data } = await ask({ input, dimensions: 4 });
    expect(data.map(({ index }) => index)).toEqual(Array.from({ length: count }, (_, index) => index));
  });

  it('the body passes as it came but for the model, fields that nobody knows too', async () => {
    await stack.post('/embeddings', '{ "input": "as it is",\n "model": "demo-embedding", "user": "u-1" }');
    expect(stack.simulator.received.at(-1)!.raw.toString()).toBe(
      '{ "input": "as it is",\n "model": "text-embedding-3-small", "user": "u-1" }',
    );
  });

  it('is billed by the vendor’s input tokens', async () => {
    await ask({ input: 'x'.repeat(400_000 / 20) });
    const row = await lastRow(stack);
    // 5000 tokens at 0.02 USD a million, 500000 units a dollar
    expect(row).toMatchObject({
      inputTokens: 5000,
      outputTokens: 0,
      quota: 50,
      usageSource: 'measured',
      outcome: 'ok',
    });
  });

  it.each([
    [{ input: undefined }, 'missing_required_parameter', 'input'],
    [{ input: '' }, 'invalid_value', 'input'],
    [{ input: [] }, 'invalid_value', 'input'],
    [{ input: ['good', ''] }, 'invalid_value', 'input[1]'],
    [{ input: [1.5] }, 'invalid_type', 'input[0]'],
    [{ input: ['text', true] }, 'invalid_type', 'input[1]'],
    [{ input: 7 }, 'invalid_type', 'input'],
    [{ dimensions: 0 }, 'invalid_value', 'dimensions'],
  ])('%o is refused with 400 before any vendor is asked', async (body, code, param) => {
    const before = stack.simulator.received.length;
    expect(await refused(body)).toMatchObject({ status: 400, code, param });
    expect(stack.simulator.received).toHaveLength(before);
  });

  it('a vendor’s own refusal names its field', async () => {
    expect(await refused({ dimensions: 9999 })).toMatchObject({ status: 400, param: 'dimensions' });
  });

  it('a model without the capability is refused, naming the routes it has', async () => {
    const { status, code, message } = await refused({ model: 'demo-chat' });
    expect({ status, code }).toEqual({ status: 400, code: 'unsupported_endpoint' });
    expect(message).toContain('POST /v1/chat/completions');
  });

  describe('of Gemini', () => {
    it('speaks to the SDK as any other, in Base64 too', async () => {
      const input = ['first', 'second'];
      const { data, model, usage } = await clientOf(stack).embeddings.create({
        model: 'demo-embedding-gemini',
        input,
        dimensions: 16,
      });
      expect(data.map(({ index, embedding }) => [index, embedding.length])).toEqual([
        [0, 16],
        [1, 16],
      ]);
      expect(model).toBe('demo-embedding-gemini');
      expect(usage.prompt_tokens).toBeGreaterThan(0);
      expect(stack.simulator.received.at(-1)!.body).toMatchObject({
        requests: [{ model: 'models/gemini-embedding-001', outputDimensionality: 16 }, {}],
      });
    });

    it('is billed by an estimate, since Google tells no tokens', async () => {
      await ask({ model: 'demo-embedding-gemini', input: 'x'.repeat(4000) });
      expect(await lastRow(stack)).toMatchObject({ inputTokens: 1000, usageSource: 'estimated', quota: 75 });
    });

    it('tokens and too many inputs are refused clearly', async () => {
      const model = 'demo-embedding-gemini';
      expect(await refused({ model, input: [1, 2] })).toMatchObject({ status: 400, param: 'input' });
      expect(await refused({ model, input: Array(101).fill('x') })).toMatchObject({ status: 400, param: 'input' });
      expect(await refused({ model, encoding_format: 'ubinary' })).toMatchObject({ param: 'encoding_format' });
    });
  });

  it('Jina speaks OpenAI’s form and refuses tokens itself', async () => {
    const model = 'demo-embedding-jina';
    const { data } = await ask({ model, input: ['a', { text: 'b' }] });
    expect(data).toHaveLength(2);
    expect(await refused({ model, input: [1, 2] })).toMatchObject({ status: 422, code: 'unprocessable' });
  });
});

describe('4.1 POST /v1/embeddings and vendors of all sorts', () => {
  const withAnswer = async (body: unknown, request: object): Promise<{ status: number; body: Answered }> => {
    const vendor = await startVendor((incoming, response) => {
      incoming.resume();
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    });
    const stack = await startWith(vendor.baseUrl, 'demo-embedding');
    const answer = await stack.post('/embeddings', { model: 'demo-embedding', ...request });
    const answered = { status: answer.status, body: (await answer.json()) as Answered };
    await stack.close();
    vendor.close();
    return answered;
  };
  const vector = (index: number, embedding: unknown) => ({ object: 'embedding', index, embedding });

  it('numbers of a vendor that knows nothing else become Base64', async () => {
    const { body } = await withAnswer({ data: [vector(0, [0.5, -1])] }, { input: 'x', encoding_format: 'base64' });
    expect(body.data[0]!.embedding).toBe('AAAAPwAAgL8=');
  });

  it('Base64 of a vendor that sends nothing else becomes numbers', async () => {
    const { body } = await withAnswer({ data: [vector(0, 'AAAAPwAAgL8=')] }, { input: 'x' });
    expect(body.data[0]!.embedding).toEqual([0.5, -1]);
  });

  it('an answer out of order is sorted', async () => {
    const { body } = await withAnswer({ data: [vector(1, [2]), vector(0, [1])] }, { input: ['a', 'b'] });
    expect(body.data.map(({ embedding }) => embedding)).toEqual([[1], [2]]);
  });

  it.each([
    ['too few', [vector(0, [1])]],
    ['the same index twice', [vector(0, [1]), vector(0, [2])]],
    ['no vector', [vector(0, [1]), vector(1, 'not base64!')]],
    ['a vector of no numbers', [vector(0, [1]), vector(1, [null])]],
    ['nothing', []],
  ])('%s is no answer', async (_name, data) => {
    const { status, body } = await withAnswer({ data }, { input: ['a', 'b'] });
    expect(status).toBe(502);
    expect(body).toMatchObject({ error: { code: 'upstream_invalid_response' } });
  });

  it.each([
    ['vectors of another form', { return_multivector: true }, [{ index: 0, embeddings: [[1], [2]] }]],
    ['several of one document', { input: [{ pdf: 'https://ex.test/a.pdf' }] }, [vector(0, [1]), vector(1, [2])]],
  ])('7 what the vendor’s own fields ask for passes: %s', async (_name, request, data) => {
    const { status, body } = await withAnswer({ data }, { input: 'a', ...request });
    expect(status).toBe(200);
    expect(body.data).toEqual(data);
  });

  it('7 beside a vendor’s own field numbers become Base64 all the same', async () => {
    const request = { input: 'x', encoding_format: 'base64', task: 'text-matching' };
    const { body } = await withAnswer({ data: [vector(0, [0.5, -1])] }, request);
    expect(body.data[0]!.embedding).toBe('AAAAPwAAgL8=');
  });

  it('7 numbers beyond all floats are none', async () => {
    const vendor = await startVendor((incoming, response) => {
      incoming.resume();
      response.setHeader('content-type', 'application/json').end('{"data":[{"index":0,"embedding":[1e999]}]}');
    });
    const stack = await startWith(vendor.baseUrl, 'demo-embedding');
    expect((await stack.post('/embeddings', { model: 'demo-embedding', input: 'x' })).status).toBe(502);
    await stack.close();
    vendor.close();
  });
});
