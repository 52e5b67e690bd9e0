/** Models that draw, on chat routes: a turn without a picture of its own goes on with the one that was drawn before. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({
    edit({ channels, models }) {
      models.models['never-edits'] = { ...models.models['gamma-imagine-image'], operations: ['images.generate'] };
      for (const { models: served } of Object.values<{ models: Record<string, string> }>(channels.channels))
        if (served[gamma] !== undefined) served['never-edits'] = served[gamma];
    },
  });
});
afterAll(() => stack.close());
beforeEach(() => stack.simulator.reset());

const gamma = 'gamma-imagine-image';
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const url = `data:image/png;base64,${pixel}`;
const other = `data:image/jpeg;base64,${pixel}`;

const user = (text: string, ...more: object[]) => ({ role: 'user', content: [{ type: 'text', text }, ...more] });
const shown = (link: string) => ({ type: 'image_url', image_url: { url: link } });

async function sentFor(path: string, body: object): Promise<string> {
  const response = await stack.post(path, body);
  expect(response.status, await response.text()).toBe(200);
  return JSON.stringify(stack.simulator.received.at(-1));
}

const chat = (model: string, ...messages: object[]) => sentFor('/chat/completions', { model, messages });

describe('9 images drawn before', () => {
  it.each([
    ['in `images`', { role: 'assistant', content: 'Here.', images: [shown(url)] }],
    ['in Markdown', { role: 'assistant', content: `Here: ![image](${url})` }],
  ])('4.4 on chat, %s', async (_where, answer) => {
    const sent = await chat(gamma, user('A fox'), answer, user('Make it blue'));
    expect(sent).toContain('/images/edits');
    expect(sent).toContain(pixel);
    expect(sent).toContain('Make it blue');
  });

  it('4.4 only the answer before counts, and a picture of the turn itself before all', async () => {
    const answers = [url, other].map((link) => ({ role: 'assistant', content: '', images: [shown(link)] }));
    const [first, second] = answers;
    expect(
      await chat(gamma, user('A fox'), first!, user('Hm'), { role: 'assistant', content: 'Yes?' }, user('A cat')),
    ).toContain('/images/generations');
    expect(await chat(gamma, user('A fox'), first!, user('B'), second!, user('C', shown(url)))).not.toContain(
      'image/jpeg',
    );
  });

  it('4.4 a link is not fetched: the model draws anew', async () => {
    const answer = { role: 'assistant', content: '![image](https://files.example/a.png)' };
    expect(await chat(gamma, user('A fox'), answer, user('A cat'))).toContain('/images/generations');
  });

  it('4.4 a model that takes no pictures draws anew', async () => {
    const answer = { role: 'assistant', content: '', images: [shown(url)] };
    await chat('never-edits', user('A fox'), answer, user('A cat'));
    expect(stack.simulator.received.at(-1)!.path).toContain('/images/generations');
  });

  it('4.1 POST /v1/responses: the last `image_generation_call`', async () => {
    const drawn = (result: string) => ({ type: 'image_generation_call', id: 'ig_1', status: 'completed', result });
    const input = [{ role: 'user', content: 'A fox' }, drawn(pixel), { role: 'user', content: 'Make it blue' }];
    const sent = await sentFor('/responses', { model: gamma, input });
    expect(sent).toContain('/images/edits');
    expect(sent).toContain(pixel);
    expect(await sentFor('/responses', { model: gamma, input: input.slice(0, 1) })).toContain('/images/generations');
  });

  it('a megabyte of half Markdown is read at once', async () => {
    const answer = { role: 'assistant', content: '![]('.repeat(500_000) };
    const begun = performance.now();
    await chat(gamma, user('A fox'), answer, user('A cat'));
    expect(performance.now() - begun).toBeLessThan(5000);
  });
});
