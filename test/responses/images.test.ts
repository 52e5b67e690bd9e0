import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Stack } from '../kit/stack.ts';
import { clientOf, eventsOf, pixel, startResponsesStack } from './support.ts';

let stack: Stack;
let client: OpenAI;
beforeAll(async () => {
  stack = await startResponsesStack();
  client = clientOf(stack);
});
afterAll(() => stack.close());

const alpha = 'alpha-image-1k';
const beta = 'beta-3.1-flash-image';

const isImage = (base64: string | null) => /^(iVBOR|\/9j\/|UklGR)/.test(base64 ?? '');

describe('9 images through /v1/responses, for clients that know no image route', () => {
  it.each([alpha, beta])('9 an image model draws, billed as an image: %s', async (model) => {
    const response = await client.responses.create({ model, input: 'A fox, größer' });
    expect(response).toMatchObject({ object: 'response', status: 'completed', store: false });
    const [item] = response.output;
    if (item?.type !== 'image_generation_call') throw new Error(String(item?.type));
    expect(item).toMatchObject({ id: expect.stringMatching(/^ig_/), status: 'completed' });
    expect(isImage(item.result)).toBe(true);
    const [row] = await stack.usage();
    expect(row).toMatchObject({ endpoint: '/v1/responses', model, images: 1, outcome: 'ok' });
    expect(row!.quota).toBe(model === alpha ? 100_000 : 40_000);
  });

  it('the tool says how, pictures of the message are the references', async () => {
    await client.responses.create({
      model: beta,
      input: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: 'Yes?' },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'Make it red' },
            { type: 'input_image', image_url: pixel, detail: 'auto' },
          ],
        },
      ],
      tools: [{ type: 'image_generation', size: '2752x1536' as '1024x1024' }],
    });
    const { body } = stack.simulator.received.at(-1)!;
    expect(JSON.stringify(body)).toContain('"16:9"');
    expect(JSON.stringify(body)).toContain(pixel.slice(22));
    expect(JSON.stringify(body)).toContain('Make it red');
  });

  it.each([alpha, beta])('9 is streamed in the documented order: %s', async (model) => {
    const stream = await client.responses.create({
      model,
      input: 'A fox',
      tools: [{ type: 'image_generation', partial_images: 2 }],
      stream: true,
    });
    const events = await eventsOf(stream);
    const partials = model === alpha ? 2 : 0;
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.image_generation_call.in_progress',
      'response.image_generation_call.generating',
      ...Array.from({ length: partials }, () => 'response.image_generation_call.partial_image'),
      'response.image_generation_call.completed',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    for (const event of events)
      if (event.type === 'response.image_generation_call.partial_image')
        expect(isImage(event.partial_image_b64)).toBe(true);
    const last = events.at(-1)!;
    const done = events.at(-2)!;
    if (last.type !== 'response.completed' || done.type !== 'response.output_item.done') throw new Error(last.type);
    expect(last.response.output).toEqual([done.item]);
    expect((await stack.usage())[0]).toMatchObject({ images: 1, outcome: 'ok' });
  });

  it('9 a refused picture costs nothing, within the stream too', async () => {
    stack.simulator.faults.add({ match: { path: '/images', times: 2 }, fault: { refuse: 'safety' } });
    await expect(client.responses.create({ model: alpha, input: 'A fox' })).rejects.toMatchObject({
      status: 400,
      code: 'moderation_blocked',
    });
    await expect(
      client.responses.create({ model: alpha, input: 'A fox', stream: true }).then(eventsOf),
    ).rejects.toMatchObject({ code: 'moderation_blocked' });
    for (const row of (await stack.usage()).slice(0, 2)) expect(row).toMatchObject({ quota: 0, images: 0 });
  });

  it('a vendor’s own tool draws beside its text, and the picture is counted', async () => {
    const response = await client.responses.create({
      model: 'native-chat',
      input: 'Draw a fox',
      tools: [{ type: 'image_generation' }],
    });
    expect(response.output.map(({ type }) => type)).toContain('image_generation_call');
    expect((await stack.usage())[0]).toMatchObject({ images: 1 });
    await eventsOf(
      await client.responses.create({
        model: 'native-chat',
        input: 'Draw a fox',
        tools: [{ type: 'image_generation' }],
        stream: true,
      }),
    );
    expect((await stack.usage())[0]).toMatchObject({ images: 1 });
  });

  it('a conversation that asks for nothing is refused', async () => {
    for (const input of [
      [{ role: 'assistant', content: 'Hi' }],
      [{ role: 'user', content: ' ' }],
      [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://example.com/a.png' }] }],
    ]) {
      const answer = await stack.post('/responses', { model: alpha, input });
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ error: { param: 'input' } });
    }
  });
});
