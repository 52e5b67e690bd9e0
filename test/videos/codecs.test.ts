import { describe, expect, it } from 'vitest';
import type { VideoProtocol, VideoRequest } from '../../engine/contract/video.ts';
import { sniffVideo } from '../../engine/tasks/video-type.ts';
import geminiVideos from '../../plugins/protocols/gemini-videos.ts';
import openaiVideos from '../../plugins/protocols/openai-videos.ts';
import xaiVideos from '../../plugins/protocols/xai-videos.ts';

const request = (over: Partial<VideoRequest> = {}): VideoRequest => ({
  prompt: 'A kite',
  seconds: 8,
  size: null,
  aspectRatio: null,
  resolution: null,
  negativePrompt: null,
  references: [],
  extra: {},
  vendorFields: {},
  ...over,
});

const encoded = (protocol: VideoProtocol, over: Partial<VideoRequest>) =>
  JSON.parse(Buffer.concat(protocol.vendor!.encodeRequest(request(over), 'm').pieces).toString());

describe('a request', () => {
  it.each<[Partial<VideoRequest>, string | undefined]>([
    [{}, undefined],
    [{ size: '1024x1792' }, '1024x1792'],
    [{ aspectRatio: '16:9' }, '1280x720'],
    [{ aspectRatio: '9:16' }, '720x1280'],
    [{ resolution: '1080p' }, '1792x1024'],
    [{ aspectRatio: '9:16', resolution: '1080p' }, '1024x1792'],
  ])('of shape %j has the size %s for OpenAI', (over, size) => {
    expect(encoded(openaiVideos, over).size).toBe(size);
  });

  it.each([{ aspectRatio: '1:1' }, { resolution: '4k' }])('of shape %j is refused for OpenAI', (over) => {
    expect(() => encoded(openaiVideos, over)).toThrow(/must be/);
  });

  it.each<[string, string, string]>([
    ['1280x720', '16:9', '720p'],
    ['720x1280', '9:16', '720p'],
    ['1792x1024', '16:9', '1080p'],
    ['3840x2160', '16:9', '4k'],
  ])('of %s is %s at %s for Veo and xAI', (size, aspectRatio, resolution) => {
    expect(encoded(geminiVideos, { size }).parameters).toMatchObject({ aspectRatio, resolution });
    expect(encoded(xaiVideos, { size })).toMatchObject({ aspect_ratio: aspectRatio, resolution });
  });

  it('has the fields for its vendor, under those of the gateway', () => {
    const vendorFields = { model: 'dear', seconds: '60', durationSeconds: 60, duration: 60, sampleCount: 4, cfg: 1 };
    expect(encoded(openaiVideos, { vendorFields })).toMatchObject({ model: 'm', seconds: '8', cfg: 1 });
    expect(encoded(geminiVideos, { vendorFields }).parameters).toMatchObject({
      durationSeconds: 8,
      sampleCount: 1,
      cfg: 1,
    });
    expect(encoded(xaiVideos, { vendorFields })).toMatchObject({ model: 'm', duration: 8, cfg: 1 });
  });

  it('8 for part of a second is for all of it: what the vendor makes is what is held and charged', () => {
    const body = { kind: 'json', value: { model: 'm', prompt: 'p', seconds: 0.001 } } as const;
    const call = openaiVideos.client!.readCall(body);
    expect(call.request.seconds).toBe(1);
    expect(call.bound.seconds).toBe(1);
    expect(encoded(xaiVideos, call.request).duration).toBe(1);
  });

  it('has unknown fields of its client for OpenAI alone', () => {
    const extra = { fps: 24 };
    expect(encoded(openaiVideos, { extra })).toMatchObject({ fps: 24 });
    expect(JSON.stringify([encoded(geminiVideos, { extra }), encoded(xaiVideos, { extra })])).not.toContain('fps');
  });

  it('of several pictures is references for Veo and xAI, and refused for OpenAI', () => {
    const file = (name: string) =>
      ({ kind: 'file', file: { bytes: Buffer.from(name), mediaType: 'image/png', name } }) as const;
    const references = [file('one'), file('two')];
    const [first, second] = ['one', 'two'].map((name) => Buffer.from(name).toString('base64'));
    expect(encoded(geminiVideos, { references }).instances[0].referenceImages).toEqual([
      { image: { bytesBase64Encoded: first, mimeType: 'image/png' }, referenceType: 'asset' },
      { image: { bytesBase64Encoded: second, mimeType: 'image/png' }, referenceType: 'asset' },
    ]);
    expect(encoded(xaiVideos, { references }).reference_images).toHaveLength(2);
    expect(() => encoded(openaiVideos, { references })).toThrow(/one reference image/);
  });
});

describe('a vendor’s state', () => {
  const protocols = { openaiVideos, geminiVideos, xaiVideos };

  it.each(Object.keys(protocols))('that is none is an error of the vendor for %s, never a state', (name) => {
    const { decodeState, decodeCreated } = protocols[name as keyof typeof protocols].vendor!;
    const hostile = [
      1,
      'text',
      [],
      {},
      { status: 'dancing' },
      { status: 'constructor' },
      { status: { toString: 1 } },
      { status: null, name: 3 },
    ];
    for (const body of hostile as never[]) {
      expect(() => decodeState(body), JSON.stringify(body)).toThrow(/cannot be used/);
      expect(() => decodeCreated(body), JSON.stringify(body)).toThrow(/cannot be used/);
    }
  });

  it('that is done without a usable address has failed', () => {
    const done = { status: 'done', video: { url: 7 } };
    expect(xaiVideos.vendor!.decodeState(done)).toMatchObject({ state: 'failed' });
    const response = { generateVideoResponse: { generatedSamples: [{ video: { uri: 'x'.repeat(10_000) } }] } };
    expect(geminiVideos.vendor!.decodeState({ name: 'o', done: true, response })).toMatchObject({ state: 'failed' });
  });

  it.each([
    ['9', 9],
    [9, 9],
    ['many', null],
    [-1, null],
    [1e9, null],
    [null, null],
  ])('with seconds %j is of %j seconds', (seconds, expected) => {
    expect(openaiVideos.vendor!.decodeState({ status: 'completed', seconds })).toMatchObject({ seconds: expected });
  });
});

describe('the type of a file', () => {
  it.each<[string, Buffer, string | null]>([
    ['MP4', Buffer.from('\0\0\0\x20ftypisom\0\0\x02\0', 'latin1'), 'video/mp4'],
    ['QuickTime', Buffer.from('\0\0\0\x14ftypqt  \0\0\0\0', 'latin1'), 'video/quicktime'],
    ['WebM', Buffer.from('\x1a\x45\xdf\xa3\x9fB\x86\x81\x01B\x82\x84webm', 'latin1'), 'video/webm'],
    ['Matroska', Buffer.from('\x1a\x45\xdf\xa3\x9fB\x86\x81\x01B\x82\x88matroska', 'latin1'), null],
    ['a page', Buffer.from('<!doctype html><html>'), null],
    ['a picture', Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'), null],
    ['nothing', Buffer.alloc(0), null],
  ])('of %s', (_what, bytes, type) => {
    expect(sniffVideo(bytes)).toBe(type);
  });
});
