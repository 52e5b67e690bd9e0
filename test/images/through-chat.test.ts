/** Image models named on a chat route, by clients that know no image route. */
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';

let stack: Stack;
let client: OpenAI;

beforeAll(async () => {
  stack = await startStack();
  client = new OpenAI({ baseURL: stack.base, apiKey: stack.key, maxRetries: 0 });
});
afterAll(() => stack.close());
beforeEach(() => stack.simulator.reset());

interface Drawn {
  readonly images: { readonly image_url: { readonly url: string } }[];
}

const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

const ask = (model: string, content: OpenAI.ChatCompletionUserMessageParam['content'], more = {}) =>
  client.chat.completions.create({ model, messages: [{ role: 'user', content }], ...more });

describe('4.4 an image model on the chat route', () => {
  it.each(['alpha-image-1k', 'beta-3-pro-image', 'gamma-imagine-image'])(
    '4.4 %s draws what the last user message says, stored and billed as an image',
    async (model) => {
      const { choices } = await ask(model, 'A red fox');
      const message = choices[0]!.message as OpenAI.ChatCompletionMessage & Drawn;
      const { url } = message.images[0]!.image_url;
      expect(message.content).toBe(`![image](${url})`);
      expect(choices[0]!.finish_reason).toBe('stop');
      const picture = await fetch(url);
      expect(picture.status).toBe(200);
      expect(picture.headers.get('content-type')).toMatch(/^image\//);
      const [row] = await stack.usage();
      expect(row).toMatchObject({ model, images: 1, endpoint: '/v1/chat/completions', outcome: 'ok' });
      expect(row!.quota).toBeGreaterThan(0);
    },
  );

  it('4.4 a picture in the message is the reference of an edit', async () => {
    await ask('gamma-imagine-image', [
      { type: 'text', text: 'Make it blue' },
      { type: 'image_url', image_url: { url: pixel } },
    ]);
    expect(stack.simulator.received.at(-1)!.path).toContain('/images/edits');
  });

  it('6.1 streamed: the picture in a chunk, then the end', async () => {
    const stream = await client.chat.completions.create({
      model: 'beta-3-pro-image',
      messages: [{ role: 'user', content: 'A red fox' }],
      stream: true,
    });
    let content = '';
    let finish: string | null = null;
    for await (const chunk of stream) {
      content += chunk.choices[0]?.delta.content ?? '';
      finish = chunk.choices[0]?.finish_reason ?? finish;
    }
    expect(content).toMatch(/^!\[image\]\(http.*\)$/);
    expect(finish).toBe('stop');
    expect((await stack.usage())[0]).toMatchObject({ images: 1, outcome: 'ok' });
  });

  it('4.2(2) contradictions are refused here too, before any vendor is asked', async () => {
    const before = stack.simulator.received.length;
    await expect(ask('beta-3-pro-image', 'A fox', { size: '1024x1024', aspect_ratio: '16:9' })).rejects.toMatchObject({
      status: 400,
      code: 'conflicting_parameters',
    });
    expect(stack.simulator.received.length).toBe(before);
  });

  it('4.2(3) beta with two images is refused', async () => {
    await expect(ask('beta-3-pro-image', 'A fox', { n: 2 })).rejects.toMatchObject({ status: 400, param: 'n' });
  });

  it.each([
    ['no text', [{ type: 'image_url', image_url: { url: pixel } }]],
    [
      'a picture by URL',
      [
        { type: 'text', text: 'x' },
        { type: 'image_url', image_url: { url: 'https://a.test/b.png' } },
      ],
    ],
    [
      'a picture that is none',
      [
        { type: 'text', text: 'x' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
      ],
    ],
  ] as const)('7 %s: 400 that names the message', async (_what, content) => {
    await expect(ask('gamma-imagine-image', [...content] as never)).rejects.toMatchObject({
      status: 400,
      param: 'messages[0].content',
    });
  });

  it('7 a failed image is not charged', async () => {
    stack.simulator.faults.add({ match: { vendor: 'gemini' }, fault: { refuse: 'safety' } });
    await expect(ask('beta-3-pro-image', 'A fox')).rejects.toMatchObject({ status: 400, code: 'moderation_blocked' });
    expect((await stack.usage())[0]).toMatchObject({ images: 0, quota: 0, outcome: 'error' });
  });

  it('7 a chat model on an image route is told which routes it serves', async () => {
    await expect(client.images.generate({ model: 'demo-chat', prompt: 'A fox' })).rejects.toMatchObject({
      status: 400,
      code: 'unsupported_endpoint',
      message: expect.stringContaining('POST /v1/chat/completions'),
    });
  });
});
