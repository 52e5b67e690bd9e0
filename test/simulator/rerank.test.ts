import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { post, useSimulator } from './start.ts';

const simulator = useSimulator();
const cohere = (body: object, path = '/rerank', headers?: Record<string, string>) =>
  post(`${simulator.current.url}/cohere/v2${path}`, body, headers);
const jina = (body: object, path = '/rerank', headers?: Record<string, string>) =>
  post(`${simulator.current.url}/jina/v1${path}`, body, headers);

const query = 'capital of Norway';
const documents = ['Bergen lies on the west coast', 'Oslo is the capital of Norway', 'The capital of Peru is Lima'];
const V2 = { model: 'rerank-v3.5', query, documents };
const V3 = { model: 'jina-reranker-v3', query, documents };

describe('Cohere', () => {
  it('ranks by the words in common, best first, with search units', async () => {
    const reply = await cohere(V2);
    expect(reply.status).toBe(200);
    expect(reply.body.results.map(({ index }: { index: number }) => index)).toEqual([1, 2, 0]);
    expect(reply.body.results[0]).toEqual({ index: 1, relevance_score: expect.closeTo(0.95, 1) });
    expect(reply.body.results[2].relevance_score).toBe(0.01);
    expect(reply.body.meta).toMatchObject({ api_version: { version: '2' }, billed_units: { search_units: 1 } });
    expect((await cohere({ ...V2, model: 'rerank-v4.0-pro' })).body.results).toEqual(reply.body.results);
  });

  it('returns no more than asked, and reads no more of a document than allowed', async () => {
    expect((await cohere({ ...V2, top_n: 1 })).body.results).toHaveLength(1);
    expect((await cohere({ ...V2, top_n: 99 })).body.results).toHaveLength(3);
    const short = await cohere({ ...V2, documents: ['word word capital of Norway'], max_tokens_per_doc: 2 });
    expect(short.body.results[0].relevance_score).toBe(0.01);
  });

  it('counts a unit for every hundred documents, and a long document as several', async () => {
    const unitsOf = async (list: string[]) => (await cohere({ ...V2, documents: list })).body.meta.billed_units;
    expect(await unitsOf(new Array(101).fill('short'))).toEqual({ search_units: 2 });
    expect(await unitsOf(new Array(60).fill('long '.repeat(600)))).toEqual({ search_units: 2 });
  });

  it.each([
    [{ ...V2, return_documents: true }, "unknown field: parameter 'return_documents' is not a valid field"],
    [{ ...V2, documents: [{ text: 'x' }] }, 'documents[0]'],
    [{ ...V2, documents: [] }, 'documents'],
    [{ ...V2, query: '' }, 'query'],
    [{ ...V2, query: undefined }, 'query'],
    [{ ...V2, top_n: 0 }, 'top_n'],
    [{ query, documents }, 'model is required'],
  ])('refuses %j', async (body, text) => {
    const reply = await cohere(body);
    expect(reply).toMatchObject({ status: 400, body: { id: expect.any(String) } });
    expect(reply.body.message).toContain(text);
    expect(reply.body).not.toHaveProperty('error');
  });

  it('refuses keys, models, verbs and paths in its own form', async () => {
    const key = (authorization: string) => cohere(V2, '/rerank', { authorization });
    expect(await key('')).toMatchObject({ status: 401, body: { message: 'no api key supplied' } });
    expect((await key('Bearer bad-key')).status).toBe(401);
    expect((await key('Bearer quota-1')).status).toBe(402);
    expect((await cohere({ ...V2, model: 'embed-v4.0' })).status).toBe(404);
    expect((await cohere({}, '/nowhere')).status).toBe(404);
    const verb = await fetch(`${simulator.current.url}/cohere/v2/rerank`, { headers: { authorization: 'Bearer k' } });
    expect(verb.status).toBe(405);
  });

  it('follows the faults', async () => {
    const faulty = (fault: string) => cohere({ ...V2, model: `rerank-v3.5!${fault}` });
    const limited = await faulty('status=429,retryAfter=3');
    expect(limited).toMatchObject({ status: 429, body: { message: expect.any(String), id: expect.any(String) } });
    expect(limited.headers.get('retry-after')).toBe('3');
    expect((await faulty('error200')).body.message).toContain('internal');
    expect((await faulty('nousage')).body.meta.billed_units).toBeUndefined();
    expect((await faulty('refuse=safety')).status).toBe(400);
    await expect(faulty('cut')).rejects.toThrow();
    await expect(faulty('malformed')).rejects.toThrow(SyntaxError);
    await expect(faulty('reset=read')).rejects.toThrow();
    expect((await cohere({ ...V2, model: 'rerank-v3.5!lenient', return_documents: true })).status).toBe(200);
  });

  it('embeds texts', async () => {
    const body = {
      model: 'embed-v4.0',
      input_type: 'search_query',
      texts: ['red apples', 'blue'],
      output_dimension: 256,
    };
    const reply = await cohere({ ...body, embedding_types: ['float', 'base64'] }, '/embed');
    expect(reply.body.embeddings.float.map(({ length }: number[]) => length)).toEqual([256, 256]);
    const bytes = Buffer.from(reply.body.embeddings.base64[1], 'base64');
    expect(bytes.readFloatLE(4)).toBe(Math.fround(reply.body.embeddings.float[1][1]));
    expect(reply.body.meta.billed_units).toEqual({ input_tokens: 4 });
    expect((await cohere({ ...body, output_dimension: 300 }, '/embed')).status).toBe(400);
    expect((await cohere({ ...body, input_type: undefined }, '/embed')).status).toBe(400);
  });
});

describe('Jina', () => {
  it('ranks texts and objects, and returns the documents unless told not to', async () => {
    const reply = await jina({ ...V3, documents: [documents[0], { text: documents[1] }], top_n: 1 });
    expect(reply.body).toEqual({
      model: 'jina-reranker-v3',
      object: 'list',
      usage: { total_tokens: 21, prompt_tokens: 21 },
      results: [{ index: 1, document: { text: documents[1] }, relevance_score: expect.closeTo(0.95, 1) }],
    });
    const bare = (await jina({ ...V3, return_documents: false })).body.results;
    expect(bare).toEqual((await cohere(V2)).body.results);
  });

  it.each([
    [{ ...V3, max_tokens_per_doc: 5 }, 'max_tokens_per_doc'],
    [{ ...V3, documents: [7] }, 'documents[0]'],
    [{ ...V3, query: undefined }, 'query'],
    [{ query, documents }, 'model'],
  ])('refuses %j', async (body, text) => {
    const reply = await jina(body);
    expect(reply.status).toBe(422);
    expect(Object.keys(reply.body)).toEqual(['detail']);
    expect(reply.body.detail).toContain(text);
  });

  it('refuses keys, models, verbs and paths in its own form', async () => {
    expect(await jina(V3, '/rerank', { authorization: '' })).toMatchObject({
      status: 401,
      body: { detail: expect.any(String) },
    });
    expect((await jina(V3, '/rerank', { authorization: 'Bearer quota' })).status).toBe(402);
    expect((await jina({ ...V3, model: 'nope' })).status).toBe(404);
    expect(await jina({}, '/nowhere')).toMatchObject({ status: 404, body: { detail: 'Not Found' } });
  });

  it('follows the faults', async () => {
    const faulty = (fault: string) => jina({ ...V3, model: `jina-reranker-v3!${fault}` });
    expect(await faulty('status=503')).toMatchObject({ status: 503, body: { detail: expect.any(String) } });
    expect((await faulty('nousage')).body.usage).toBeUndefined();
    await expect(faulty('cut')).rejects.toThrow();
    await expect(faulty('wrongtype')).rejects.toThrow(SyntaxError);
  });

  it('embeds for the official client of OpenAI', async () => {
    const client = new OpenAI({ apiKey: 'k', baseURL: `${simulator.current.url}/jina/v1`, maxRetries: 0 });
    const ask = { model: 'jina-embeddings-v3', input: ['red apples', 'blue'], dimensions: 64 };
    const base64 = await client.embeddings.create(ask);
    const floats = await client.embeddings.create({ ...ask, encoding_format: 'float' });
    expect(base64.data[1]!.embedding).toEqual(floats.data[1]!.embedding.map(Math.fround));
    expect(base64).toMatchObject({ object: 'list', usage: { prompt_tokens: 4, total_tokens: 4 } });
    const objects = await jina({ ...ask, input: [{ text: 'blue' }], embedding_type: 'float' }, '/embeddings');
    expect(objects.body.data[0].embedding).toEqual(floats.data[1]!.embedding);
    expect((await jina({ ...ask, input: [[1, 2]] }, '/embeddings')).status).toBe(422);
    expect((await jina({ ...ask, input: '' }, '/embeddings')).status).toBe(422);
  });
});
