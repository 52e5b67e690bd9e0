import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { lastRow, startVendor, startWith } from './support.ts';

const documents = ['Bergen is a town in the west.', 'Oslo is the capital of Norway.', 'A fish swims.'];
const query = 'capital of Norway';

interface Ranked {
  readonly id: string;
  readonly object: string;
  readonly model: string;
  readonly results: readonly {
    readonly index: number;
    readonly relevance_score: number;
    readonly document?: unknown;
  }[];
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number };
  readonly meta: { readonly billed_units: { readonly search_units: number } };
}

describe('4.1 POST /v1/rerank', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack();
  });
  afterAll(() => stack.close());

  const post = (body: object) => stack.post('/rerank', { model: 'demo-rerank', query, documents, ...body });
  const rank = async (body: object = {}): Promise<Ranked> => {
    const answer = await post(body);
    expect(answer.status).toBe(200);
    return (await answer.json()) as Ranked;
  };
  const sent = () => stack.simulator.received.at(-1)!.body as Record<string, unknown>;

  describe.each(['demo-rerank', 'demo-rerank-jina'])('with %s', (model) => {
    it('answers what clients of Cohere and of Jina read', async () => {
      const ranked = await rank({ model });
      expect(ranked).toMatchObject({ id: expect.any(String), object: 'list', model });
      expect(ranked.results.map(({ index }) => index)[0]).toBe(1);
      const scores = ranked.results.map((result) => result.relevance_score);
      expect(scores).toEqual([...scores].sort((one, other) => other - one));
      expect(ranked.results).toHaveLength(3);
      expect(ranked.usage.total_tokens).toBeGreaterThan(0);
      expect(ranked.meta.billed_units.search_units).toBe(1);
      expect(ranked.results.some((result) => 'document' in result)).toBe(false);
    });

    it('top_n, documents as objects and return_documents mean the same', async () => {
      const objects = documents.map((text, index) => ({ text, id: index }));
      const { results } = await rank({ model, documents: objects, top_n: 2, return_documents: true });
      expect(results.map(({ document }) => document)).toEqual(results.map(({ index }) => objects[index]));
      expect(results).toHaveLength(2);
      expect(sent().documents).toEqual(documents);
    });

    it('a bare text comes back as an object', async () => {
      const { results } = await rank({ model, return_documents: true, top_n: 1 });
      expect(results[0]!.document).toEqual({ text: documents[1] });
    });
  });

  it('the longest document is told to each vendor in its own word', async () => {
    await rank({ max_doc_length: 64, priority: 3 });
    expect(sent()).toEqual({ model: 'rerank-v3.5', query, documents, max_tokens_per_doc: 64, priority: 3 });
    await rank({ model: 'demo-rerank-jina', max_tokens_per_doc: 64, priority: 3 });
    expect(sent()).toMatchObject({ max_doc_length: 64, return_documents: false });
    expect(sent()).not.toHaveProperty('priority');
  });

  it('is billed by search units, or by tokens where the model is priced so', async () => {
    await rank();
    expect(await lastRow(stack)).toMatchObject({ searchUnits: 1, quota: 1000, usageSource: 'measured' });
    await rank({ model: 'demo-rerank-jina', documents: Array(50).fill('x'.repeat(4000)) });
    const row = await lastRow(stack);
    expect(row).toMatchObject({ searchUnits: 0, inputTokens: 50_005, usageSource: 'measured', quota: 500 });
  });

  it('is billed by the gateway’s own count where the vendor tells none', async () => {
    stack.simulator.faults.add({ match: {}, fault: { nousage: true } });
    await rank({ documents: Array(250).fill('short') });
    expect(await lastRow(stack)).toMatchObject({ searchUnits: 3, quota: 3000, usageSource: 'estimated' });
    stack.simulator.faults.clear();
  });

  it.each([
    [{ query: '' }, 'missing_required_parameter', 'query'],
    [{ query: 5 }, 'invalid_type', 'query'],
    [{ documents: undefined }, 'missing_required_parameter', 'documents'],
    [{ documents: [] }, 'invalid_value', 'documents'],
    [{ documents: 'text' }, 'invalid_type', 'documents'],
    [{ documents: ['a', 3] }, 'invalid_type', 'documents[1]'],
    [{ documents: [{ title: 'no text' }] }, 'invalid_type', 'documents[0].text'],
    [{ top_n: 0 }, 'invalid_value', 'top_n'],
    [{ top_n: '2' }, 'invalid_type', 'top_n'],
    [{ return_documents: 'yes' }, 'invalid_type', 'return_documents'],
    [{ max_tokens_per_doc: 10, max_doc_length: 20 }, 'conflicting_parameters', 'max_doc_length'],
    [{ rank_fields: ['title'] }, 'unsupported_parameter', 'rank_fields'],
    [{ max_chunks_per_doc: 2 }, 'unsupported_parameter', 'max_chunks_per_doc'],
  ])('%o is refused with 400 before any vendor is asked', async (body, code, param) => {
    const before = stack.simulator.received.length;
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { code, param } });
    expect(stack.simulator.received).toHaveLength(before);
  });

  it('a field that neither knows is the vendor’s to refuse', async () => {
    const answer = await post({ nonsense: 1 });
    expect(answer.status).toBe(400);
    expect(JSON.stringify(await answer.json())).toContain('nonsense');
  });
});

describe('4.1 POST /v1/rerank and hostile answers', () => {
  const result = (index: unknown, score: unknown = 0.5) => ({ index, relevance_score: score });

  it.each([
    ['an index that no document has', [result(3)]],
    ['an index below 0', [result(-1)]],
    ['an index that is none', [result(0.5)]],
    ['an index twice', [result(0), result(0)]],
    ['a score that is none', [result(0, '1')]],
    ['nothing', []],
    ['no list', 'results'],
  ])('%s is no answer', async (_name, results) => {
    const vendor = await startVendor((incoming, response) => {
      incoming.resume();
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ results }));
    });
    const stack = await startWith(vendor.baseUrl, 'demo-rerank', {
      edit: ({ channels }) => {
        channels.channels.only.vendor = 'cohere';
      },
    });
    const answer = await stack.post('/rerank', { model: 'demo-rerank', query, documents });
    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({ error: { code: 'upstream_invalid_response' } });
    expect((await lastRow(stack)).quota).toBe(0);
    await stack.close();
    vendor.close();
  });

  it.each([
    ['7 a threshold of the vendor’s own may leave nothing', '{"results":[]}', { threshold: 0.9 }, 200],
    ['7 a score beyond all numbers is none', '{"results":[{"index":0,"relevance_score":1e999}]}', {}, 502],
  ])('%s', async (_name, body, request, status) => {
    const vendor = await startVendor((incoming, response) => {
      incoming.resume();
      response.setHeader('content-type', 'application/json').end(body);
    });
    const stack = await startWith(vendor.baseUrl, 'demo-rerank', {
      edit: ({ channels }) => {
        channels.channels.only.vendor = 'jina';
      },
    });
    expect((await stack.post('/rerank', { model: 'demo-rerank', query, documents, ...request })).status).toBe(status);
    await stack.close();
    vendor.close();
  });

  it('a vendor’s ranking is sorted and cut', async () => {
    const vendor = await startVendor((incoming, response) => {
      incoming.resume();
      const results = [result(0, 0.1), result(2, 0.9), result(1, 0.5)];
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ results }));
    });
    const stack = await startWith(vendor.baseUrl, 'demo-rerank', {
      edit: ({ channels }) => {
        channels.channels.only.vendor = 'jina';
      },
    });
    const answer = await stack.post('/rerank', { model: 'demo-rerank', query, documents, top_n: 2 });
    expect(((await answer.json()) as Ranked).results.map(({ index }) => index)).toEqual([2, 1]);
    await stack.close();
    vendor.close();
  });
});
