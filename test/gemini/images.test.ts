/** Old clients of the beta family: images through generateContent, served and billed like the image routes. */
import type { GenerateContentResponse, Part } from '@google/genai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPictures } from '../../simulator/images/pictures.ts';
import { type Stack, startStack } from '../kit/stack.ts';
import { decodeImage } from '../simulator/pixels.ts';
import { clientOf, lastRow, postNative } from './kit.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ heartbeat: 20 });
});
afterAll(() => stack.close());

const png = createPictures('exact').draw({ format: 'png', width: 64, height: 36, seed: 'i' }).bytes.toString('base64');
const asking = (text: string, fields: object = {}) => ({ contents: [{ role: 'user', parts: [{ text }] }], ...fields });

interface VendorBody {
  readonly contents: readonly { readonly parts: readonly Part[] }[];
  readonly generationConfig: object;
}
const vendorBody = (): VendorBody => stack.simulator.received.at(-1)!.body as VendorBody;

const partsOf = (reply: GenerateContentResponse): Part[] =>
  reply.candidates?.flatMap(({ content }) => content?.parts ?? []) ?? [];
const pictureOf = ({ inlineData }: Part) => decodeImage(Buffer.from(inlineData!.data!, 'base64'));

describe('9 images on the native route', () => {
  it('9 Google’s SDK draws with ratio and size, billed as one image', async () => {
    const reply = await clientOf(stack).models.generateContent({
      model: 'beta-3-pro-image',
      contents: 'A boat',
      config: { responseModalities: ['TEXT', 'IMAGE'], imageConfig: { aspectRatio: '16:9', imageSize: '2K' } },
    });
    expect(reply.candidates).toHaveLength(1);
    const [part, ...others] = partsOf(reply);
    expect(others).toEqual([]);
    expect(part!.inlineData!.mimeType).toBe('image/png');
    expect(pictureOf(part!)).toMatchObject({ width: 2752, height: 1536 });
    expect(reply.candidates![0]!.finishReason).toBe('STOP');
    expect(reply.usageMetadata!.candidatesTokenCount).toBe(1120);
    expect(vendorBody().generationConfig).toMatchObject({ imageConfig: { aspectRatio: '16:9', imageSize: '2K' } });
    expect(await lastRow(stack)).toMatchObject({
      endpoint: '/v1beta/models/*:generateContent',
      model: 'beta-3-pro-image',
      images: 1,
      quota: 75_000,
      outcome: 'ok',
    });
  });

  it('2.6 nothing said: the family’s own defaults', async () => {
    const reply = await clientOf(stack).models.generateContent({ model: 'beta-3.1-flash-image', contents: 'A hat' });
    expect(pictureOf(partsOf(reply)[0]!)).toEqual({ format: 'jpeg', width: 1024, height: 1024 });
    expect(vendorBody().generationConfig).toMatchObject({ imageConfig: { aspectRatio: '1:1', imageSize: '1K' } });
  });

  it('4.3 pictures of the last turn are the references', async () => {
    const contents = [
      {
        role: 'user',
        parts: [
          { text: 'Two cups' },
          { inlineData: { mimeType: 'image/png', data: png } },
          { inlineData: { mimeType: 'image/png', data: png } },
        ],
      },
    ];
    const config = { systemInstruction: 'In oil.' };
    await clientOf(stack).models.generateContent({ model: 'beta-3-pro-image', contents, config });
    expect(vendorBody().contents[0]!.parts).toEqual([
      { text: 'In oil.\nTwo cups' },
      { inlineData: { mimeType: 'image/png', data: png } },
      { inlineData: { mimeType: 'image/png', data: png } },
    ]);
  });

  it('9 a chat of the SDK goes on with the picture it got', async () => {
    const chat = clientOf(stack).chats.create({ model: 'beta-3-pro-image' });
    const first = partsOf(await chat.sendMessage({ message: 'A red boat' }))[0]!;
    const second = await chat.sendMessage({ message: 'Now blue' });
    expect(vendorBody().contents[0]!.parts).toEqual([
      { text: 'Now blue' },
      { inlineData: { mimeType: 'image/png', data: first.inlineData!.data } },
    ]);
    expect(partsOf(second)).toHaveLength(1);
  });

  it('9 streamed as events, with comments while the vendor works', async () => {
    stack.simulator.faults.add({ match: { vendor: 'gemini', times: 1 }, fault: { latency: 120 } });
    const response = await postNative(stack, 'beta-3-pro-image:streamGenerateContent?alt=sse', asking('A kite'));
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const text = await response.text();
    expect(text).toContain(': ping\n\n');
    const frames = text.split('\n\n').filter((frame) => frame.startsWith('data: '));
    expect(frames).toHaveLength(1);
    const reply = JSON.parse(frames[0]!.slice(6)) as GenerateContentResponse;
    expect(pictureOf(partsOf(reply)[0]!)).toMatchObject({ format: 'png' });
    expect(reply).toMatchObject({ candidates: [{ finishReason: 'STOP', index: 0 }], usageMetadata: {} });
    stack.simulator.faults.clear();
  });

  it('9 streamed with the SDK, and as one array with white space while the vendor works', async () => {
    const pieces: GenerateContentResponse[] = [];
    const { models } = clientOf(stack);
    for await (const piece of await models.generateContentStream({ model: 'beta-3-pro-image', contents: 'A bee' }))
      pieces.push(piece);
    expect(pieces).toHaveLength(1);
    expect(partsOf(pieces[0]!)).toHaveLength(1);
    stack.simulator.faults.add({ match: { vendor: 'gemini', times: 1 }, fault: { latency: 120 } });
    const response = await postNative(stack, 'beta-3-pro-image:streamGenerateContent', asking('A bee'));
    stack.simulator.faults.clear();
    expect(response.headers.get('content-type')).toContain('application/json');
    const text = await response.text();
    expect(text).toMatch(/^\n+\[/);
    const replies = JSON.parse(text) as GenerateContentResponse[];
    expect(replies).toHaveLength(1);
    expect(partsOf(replies[0]!)[0]!.inlineData!.data).toBe(partsOf(pieces[0]!)[0]!.inlineData!.data);
    expect(await lastRow(stack)).toMatchObject({ images: 1, quota: 75_000 });
  });

  it('4.2 families of other vendors draw too, several at once', async () => {
    const reply = await clientOf(stack).models.generateContent({
      model: 'gamma-imagine-image',
      contents: 'A fish',
      config: { candidateCount: 2, imageConfig: { aspectRatio: '16:9' } },
    });
    expect(reply.candidates!.map(({ index }) => index)).toEqual([0, 1]);
    expect(partsOf(reply)).toHaveLength(2);
    expect(await lastRow(stack)).toMatchObject({ images: 2, model: 'gamma-imagine-image' });
    const alpha = await clientOf(stack).models.generateContent({ model: 'alpha-image-1k', contents: 'A dog' });
    expect(pictureOf(partsOf(alpha)[0]!)).toMatchObject({ width: 1024, height: 1024 });
  });
});

describe('7 images that are refused', () => {
  const refused = async (model: string, body: object) => {
    const response = await postNative(stack, `${model}:generateContent`, body);
    const { error } = (await response.json()) as { error: { code: number; status: string; message: string } };
    expect(error.code).toBe(response.status);
    return error;
  };

  it.each([
    ['4.2(3) more than one image of the beta family', { generationConfig: { candidateCount: 2 } }, '`n` 2'],
    ['2.6 a ratio it does not draw', { generationConfig: { imageConfig: { aspectRatio: '8:1' } } }, '8:1'],
    ['2.6 a size it does not know', { generationConfig: { imageConfig: { imageSize: '2k' } } }, '2k'],
  ])('%s', async (_what, fields, words) => {
    const error = await refused('beta-3-pro-image', asking('A boat', fields));
    expect(error).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' });
    expect(error.message).toContain(words);
    const row = await lastRow(stack);
    expect(row).toMatchObject({ status: 400, attempts: 0, quota: 0 });
  });

  it.each([
    [
      'nothing to draw',
      { contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: png } }] }] },
    ],
    ['a file by URL', { contents: [{ parts: [{ text: 'x' }, { fileData: { fileUri: 'https://x.example/a.png' } }] }] }],
    [
      'a picture that is none',
      { contents: [{ parts: [{ text: 'x' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }] }] },
    ],
  ])('2.2 %s', async (_what, body) => {
    expect(await refused('beta-3-pro-image', body)).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' });
  });

  it('7 what safety refuses is not charged', async () => {
    stack.simulator.faults.add({ match: { vendor: 'gemini' }, fault: { refuse: 'safety' } });
    const error = await refused('beta-3-pro-image', asking('Forbidden'));
    stack.simulator.faults.clear();
    expect(error).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' });
    expect(await lastRow(stack)).toMatchObject({ images: 0, quota: 0, code: 'moderation_blocked' });
  });

  it.each(['events', 'array'])('7 an error behind the first bytes of a stream as %s', async (form) => {
    stack.simulator.faults.add({ match: { vendor: 'gemini' }, fault: { latency: 80, status: 400 } });
    const query = form === 'events' ? '?alt=sse' : '';
    const response = await postNative(stack, `beta-3-pro-image:streamGenerateContent${query}`, asking('A boat'));
    const text = await response.text();
    stack.simulator.faults.clear();
    expect(response.status).toBe(200);
    const last = form === 'events' ? JSON.parse(text.trim().split('\n\n').at(-1)!.slice(6)) : JSON.parse(text)[0];
    expect(last).toMatchObject({ error: { code: 400, status: 'INVALID_ARGUMENT' } });
    expect(await lastRow(stack)).toMatchObject({ images: 0, quota: 0, outcome: 'error' });
  });
});
