import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { clientOf, lastRow } from './support.ts';

describe('4.1 POST /v1/moderations', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack();
  });
  afterAll(() => stack.close());

  it('the official SDK gets a verdict for each text', async () => {
    const { results } = await clientOf(stack).moderations.create({
      model: 'omni-moderation-latest',
      input: ['a walk', 'violence everywhere'],
    });
    expect(results.map(({ flagged }) => flagged)).toEqual([false, true]);
    expect(results[1]!.categories.violence).toBe(true);
  });

  it('texts and pictures together are one input', async () => {
    const { results } = await clientOf(stack).moderations.create({
      model: 'omni-moderation-latest',
      input: [
        { type: 'text', text: 'a walk' },
        { type: 'image_url', image_url: { url: 'https://example.com/violence.png' } },
      ],
    });
    expect(results).toHaveLength(1);
    expect(results[0]!.flagged).toBe(true);
  });

  it('without a model means OpenAI’s own, where that is configured', async () => {
    expect((await clientOf(stack).moderations.create({ input: 'a walk' })).model).toBe('omni-moderation-latest');
    expect(stack.simulator.received.at(-1)!.body).toEqual({ input: 'a walk', model: 'omni-moderation-latest' });
  });

  it('is free unless it is priced', async () => {
    expect(await lastRow(stack)).toMatchObject({ quota: 0, outcome: 'ok', model: 'omni-moderation-latest' });
    await stack.rewrite(({ models }) => {
      models.models['omni-moderation-latest'].price = { request: '0.001' };
    });
    await stack.gateway.reload();
    await stack.post('/moderations', { input: 'a walk' });
    expect(await lastRow(stack)).toMatchObject({ quota: 500 });
  });

  it.each([
    [{}, 'missing_required_parameter', 'input'],
    [{ input: 7 }, 'invalid_type', 'input'],
    [{ input: [] }, 'invalid_value', 'input'],
    [{ input: 'x', model: 7 }, 'invalid_type', 'model'],
  ])('%o is refused with 400', async (body, code, param) => {
    const answer = await stack.post('/moderations', body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { code, param } });
  });

  it('without a model and without that model: 404', async () => {
    const other = await startStack({
      edit({ models, channels }) {
        delete models.models['omni-moderation-latest'];
        for (const channel of Object.values<{ models: Record<string, string> }>(channels.channels))
          delete channel.models['omni-moderation-latest'];
      },
    });
    const answer = await other.post('/moderations', { input: 'x' });
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ error: { code: 'model_not_found' } });
    await other.close();
  });
});
