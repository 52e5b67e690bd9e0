/** The plugin author's kit, tried on what ships with the gateway. */
import { describe, expect, test } from 'vitest';
import { definePlugin, GatewayError, type PluginDefinition } from '../../engine/plugin.ts';
import auth from '../../plugins/auth/auth.ts';
import billing from '../../plugins/billing/billing.ts';
import chat from '../../plugins/protocols/openai-chat.ts';
import completions from '../../plugins/protocols/openai-completions.ts';
import xaiImages from '../../plugins/protocols/xai-images.ts';
import storage from '../../plugins/storage/storage.ts';
import gemini from '../../plugins/vendors/gemini.ts';
import { encodePng } from '../../simulator/images/png.ts';
import { chatBetween, createExchange, createHost, imagesOf, openPlugin, openVendor } from '../kit/plugin.ts';

const noOptions = { type: 'object', additionalProperties: false, properties: {} } as const;

describe('openPlugin', () => {
  test('a refusal at the head is answered and not settled', async () => {
    const plugin = await openPlugin(auth as PluginDefinition, { host: createHost({ key: null }) });
    const { refusal } = await plugin.request({ headers: { 'x-api-key': 'wrong' } });
    expect(refusal).toMatchObject({ status: 401, code: 'malformed_api_key' });
  });

  test('money is held, settled and seen', async () => {
    const plugin = await openPlugin(billing as unknown as PluginDefinition);
    await plugin.request({ rate: { quota: () => 7 } });
    expect(plugin.host.rows).toMatchObject([{ quota: 7, outcome: 'ok', model: 'test-model' }]);
    const poor = { account: { userId: 1, disabled: false, available: 6 } };
    expect((await plugin.request({ key: poor, rate: { quota: () => 7 } })).refusal?.code).toBe('insufficient_quota');
  });

  test('events pass the hook in order, and null leaves one out', async () => {
    const plugin = await openPlugin(
      definePlugin({
        name: 'no-reasoning',
        summary: 'Leaves reasoning out.',
        options: noOptions,
        create: () => ({ onEvent: (_exchange, event) => (event.type === 'reasoning' ? null : event) }),
      }),
    );
    const events = plugin.events(createExchange(), [
      { type: 'reasoning', choice: 0, text: 'Hm' },
      { type: 'text', choice: 0, text: 'Yes' },
    ]);
    expect(events).toEqual([{ type: 'text', choice: 0, text: 'Yes' }]);
  });

  test('images are stored in memory', async () => {
    const plugin = await openPlugin(storage as unknown as PluginDefinition);
    const base64 = Buffer.from(encodePng(8, 4, [1, 2, 3]).toString('base64'));
    const { exchange } = await plugin.start({ protocol: 'openai-images' });
    const image = { source: { kind: 'base64' as const, base64 }, mediaType: null, revisedPrompt: null };
    const result = { created: null, images: [image], usage: null, extra: {}, refused: 0 };
    const [delivered] = await plugin.images(exchange, result);
    expect(delivered).toMatchObject({ mediaType: 'image/png', width: 8, height: 4 });
    expect(delivered?.url).toMatch(/^https:\/\/gateway\.test\/files\/images\/1/);
    expect([...plugin.host.stored.values()]).toHaveLength(1);
  });

  test('an open schema, an undescribed property and wrong options are refused', async () => {
    const make = (options: object) =>
      openPlugin({ name: 'odd', summary: 'Odd.', options: options as never, create: () => ({}) });
    await expect(make({ type: 'object', properties: {} })).rejects.toThrow('additionalProperties: false');
    await expect(make({ ...noOptions, properties: { a: { type: 'string' } } })).rejects.toThrow(
      'without description: a',
    );
    const strict = { ...noOptions, required: ['a'], properties: { a: { type: 'string', description: 'A.' } } };
    await expect(make(strict)).rejects.toThrow('odd: ');
  });

  test('what is no GatewayError is a bug of the plugin and thrown on', async () => {
    const broken = definePlugin({
      name: 'broken',
      summary: 'Broken.',
      options: noOptions,
      create: () => ({
        onRequest() {
          throw new TypeError('a bug');
        },
      }),
    });
    await expect((await openPlugin(broken)).request()).rejects.toThrow('a bug');
  });
});

describe('openVendor', () => {
  test('a vendor that speaks what does not exist is refused', () => {
    const vendor = { ...gemini, speaks: { 'gemini-paintings': { generate: '/' } } };
    expect(() => openVendor(vendor)).toThrow('gemini speaks gemini-paintings, which is no protocol');
  });

  test('an image request in the vendor’s own protocol', () => {
    const sent = openVendor(gemini).request({ protocol: 'openai-images', body: { prompt: 'A fox' } });
    expect(sent.url).toBe('https://generativelanguage.googleapis.com/v1beta/models/vendor-model:generateContent');
    expect(sent.headers['x-goog-api-key']).toBe('secret');
    expect(JSON.stringify(sent.body)).toContain('A fox');
  });
});

describe('protocols', () => {
  test('chatBetween leads a request, an answer and a stream across', () => {
    const between = chatBetween(completions, chat);
    expect(between.request({ model: 'm', prompt: 'Hi' })).toMatchObject({
      model: 'vendor-model',
      messages: [{ role: 'user', content: 'Hi' }],
    });
    const choice = { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello' } };
    expect(between.reply({ id: '1', choices: [choice] })).toMatchObject({ choices: [{ text: 'Hello' }] });
    expect(() => between.reply({ error: { message: 'No.' } })).toThrow('No.');
    const delta = { id: '1', choices: [{ index: 0, delta: { content: 'Hé' }, finish_reason: 'stop' }] };
    const streamed = between.stream(`data: ${JSON.stringify(delta)}\n\ndata: [DONE]\n\n`, 3);
    expect(streamed).toMatchObject({ complete: true, error: null });
    expect(streamed.text).toContain('"text":"Hé"');
  });

  test('imagesOf shows the vendor’s body, reads its answer and its errors', () => {
    const images = imagesOf(xaiImages);
    const { text } = images.request({ body: { prompt: 'A fox' } }, { aspectRatio: '16:9', n: 2 });
    expect(JSON.parse(text)).toMatchObject({ model: 'vendor-model', prompt: 'A fox', aspect_ratio: '16:9', n: 2 });
    expect(images.reply({ data: [{ b64_json: 'aGk=' }] })).toMatchObject({ images: [{ mediaType: null }] });
    expect(images.reply({ data: [] })).toMatchObject({ code: 'upstream_no_image' });
    expect(images.error({ code: 'bad', error: 'No.' })).toMatchObject({ code: 'bad', message: 'No.' });
    const edit = images.request({ references: [{ bytes: Buffer.from('x'), mediaType: 'image/png', name: 'a.png' }] });
    expect(JSON.parse(edit.text).image.url).toBe('data:image/png;base64,eA==');
  });
});

describe('the host and the exchange', () => {
  test('fetch finds what the test put there', async () => {
    const bytes = Buffer.from('hi');
    const host = createHost({ pages: { 'https://a.test/x': { bytes, contentType: 'text/plain' } } });
    const limits = { trustedOrigin: '', maximumBytes: 10, timeout: 10 };
    expect((await host.fetch('https://a.test/x', limits)).bytes).toBe(bytes);
    await expect(host.fetch('https://a.test/y', limits)).rejects.toBeInstanceOf(GatewayError);
  });

  test('a client that leaves tells those who listen, once', () => {
    const exchange = createExchange();
    const heard: string[] = [];
    exchange.onAbort(() => heard.push('before'));
    exchange.leave();
    exchange.leave();
    exchange.onAbort(() => heard.push('after'));
    expect(heard).toEqual(['before', 'after']);
    expect(exchange.aborted).toBe(true);
  });

  test('replays know a first answer, one that runs and another body', async () => {
    const { replays } = createHost();
    expect(await replays.begin('a', '1')).toEqual({ state: 'new' });
    expect(await replays.begin('a', '1')).toEqual({ state: 'running' });
    expect(await replays.begin('a', '2')).toEqual({ state: 'conflict' });
    await replays.finish('a', { status: 200, contentType: 'text/plain', body: Buffer.from('x') });
    expect(await replays.begin('a', '1')).toMatchObject({ state: 'done', status: 200 });
  });
});
