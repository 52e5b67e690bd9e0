import { describe, expect, it } from 'vitest';
import type { ImageCall } from '../../engine/plugin.ts';
import protocol from '../../plugins/protocols/gemini-images.ts';
import { imageCall, jsonOf, png, pngFile, refusal } from './support.ts';

const vendor = protocol.vendor!;
const settings = { n: 1, size: null, quality: null, aspectRatio: '16:9', resolution: '2K' };
const encode = (call: Partial<ImageCall>) =>
  vendor.encodeRequest(imageCall({}, { settings, ...call }), 'gemini-3-pro-image');
const reply = (value: unknown) => vendor.decodeReply(Buffer.from(JSON.stringify(value)));
const big = '/9jA'.repeat(2000);
const image = (data: string, more = {}) => ({ ...more, inlineData: { mimeType: 'image/jpeg', data } });
const answer = (parts: unknown, finishReason = 'STOP') => ({
  candidates: [{ index: 0, finishReason, content: { role: 'model', parts } }],
});

describe('a request', () => {
  it('2.6 aspect_ratio and resolution are the upstream’s aspectRatio and imageSize', () => {
    const { contentType, pieces } = encode({
      stream: true,
      partialImages: 1,
      responseFormat: 'b64_json',
      extra: { user: 'u' },
    });
    expect(contentType).toBe('application/json');
    expect(jsonOf(pieces)).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'A fox in fog' }] }],
      generationConfig: { responseModalities: ['IMAGE'], imageConfig: { aspectRatio: '16:9', imageSize: '2K' } },
    });
  });

  it('sends no imageConfig where nothing was settled', () => {
    const none = { ...settings, aspectRatio: null, resolution: null };
    expect(jsonOf(encode({ settings: none }).pieces).generationConfig).toEqual({ responseModalities: ['IMAGE'] });
  });

  it('2.2 references follow the prompt as Base64', () => {
    const references = [pngFile(), { ...pngFile(), mediaType: 'image/webp' }];
    const [content] = jsonOf(encode({ operation: 'edit', prompt: 'A "b" \\ ü', references }).pieces).contents;
    expect(content.parts).toEqual([
      { text: 'A "b" \\ ü' },
      { inlineData: { mimeType: 'image/png', data: png().toString('base64') } },
      { inlineData: { mimeType: 'image/webp', data: png().toString('base64') } },
    ]);
  });

  it.each<[string, Partial<ImageCall>]>([
    ['mask', { mask: pngFile() }],
    ['background', { extra: { background: 'transparent' } }],
  ])('what would change the picture and cannot be said is refused: %s', (param, call) => {
    expect(refusal(() => encode(call))).toMatchObject({ code: 'unsupported_parameter', status: 400, param });
  });
});

describe('a reply', () => {
  it('the picture is the last image that is no thought', () => {
    const parts = [
      image('AAAA', { thought: true }),
      image('BBBB'),
      { text: 'Here' },
      image(big, { thoughtSignature: 'E' }),
      image('CCCC', { thought: true }),
    ];
    const { images } = reply(answer(parts));
    expect(images).toEqual([
      { source: { kind: 'base64', base64: Buffer.from(big) }, mediaType: 'image/jpeg', revisedPrompt: null },
    ]);
  });

  it('usage counts thoughts as output, tool prompts as input', () => {
    const usageMetadata = {
      promptTokenCount: 270,
      toolUsePromptTokenCount: 5,
      candidatesTokenCount: 1680,
      thoughtsTokenCount: 350,
      cachedContentTokenCount: 7,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 12 },
        { modality: 'IMAGE', tokenCount: 258 },
      ],
    };
    const result = reply({ ...answer([image(big)]), usageMetadata });
    expect(result.usage).toEqual({ input: 275, cachedInput: 7, cacheWrite: 0, output: 2030, reasoning: 350 });
    expect(result.extra.usage).toEqual({
      total_tokens: 2305,
      input_tokens: 275,
      output_tokens: 2030,
      input_tokens_details: { text_tokens: 17, image_tokens: 258 },
    });
  });

  it.each([
    'SAFETY',
    'PROHIBITED_CONTENT',
    'IMAGE_SAFETY',
    'IMAGE_PROHIBITED_CONTENT',
    'RECITATION',
    'IMAGE_RECITATION',
    'BLOCKLIST',
    'SPII',
  ])('7 %s in a 200 is a refusal, whatever else is there', (reason) => {
    const error = refusal(() => reply({ candidates: [{ finishReason: reason }] }));
    expect(error).toMatchObject({ code: 'moderation_blocked', status: 400 });
    expect(error.message).toContain(reason);
    expect(refusal(() => reply(answer([image(big)], reason))).code).toBe('moderation_blocked');
  });

  it('7 a blocked prompt in a 200 is a refusal', () => {
    const value = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: { promptTokenCount: 9 } };
    expect(refusal(() => reply(value))).toMatchObject({ code: 'moderation_blocked', status: 400 });
  });

  it.each<[string, unknown]>([
    ['NO_IMAGE', { candidates: [{ finishReason: 'NO_IMAGE' }] }],
    ['IMAGE_OTHER', answer([], 'IMAGE_OTHER')],
    ['text alone', answer([{ text: 'I cannot draw that.' }])],
    ['thoughts alone', answer([image(big, { thought: true })])],
    ['no candidates', {}],
    ['candidates of the wrong type', { candidates: { 0: 'x' } }],
    ['parts of the wrong type', answer('x')],
    ['an empty image', answer([image('')])],
  ])('7 %s in a 200 is no image', (_, value) => {
    expect(refusal(() => reply(value))).toMatchObject({ code: 'upstream_no_image', status: 502 });
  });

  it('what the model said instead is in the message, bounded and on one line', () => {
    const { message } = refusal(() =>
      reply(answer([{ text: 'Hush', thought: true }, { text: `Sorry,\n${'no '.repeat(5000)}` }])),
    );
    expect(message).toContain('Sorry, no no');
    expect(message).not.toMatch(/\n|Hush/);
    expect(message.length).toBeLessThan(450);
  });

  it.each([
    '',
    '[]',
    '7',
    '<html>',
    '{"error":{"code":500}}',
    `{"candidates":[{"content":{"parts":[{"inlineData":{"data":"${big}`,
  ])('7 what is no answer cannot be used: %s', (text) =>
    expect(refusal(() => vendor.decodeReply(Buffer.from(text))).code).toBe('upstream_invalid_response'),
  );
});

describe('an error body', () => {
  const type = 'type.googleapis.com/google.rpc.';
  const status = {
    error: {
      code: 429,
      message: 'Quota',
      status: 'RESOURCE_EXHAUSTED',
      details: [
        { '@type': `${type}ErrorInfo`, reason: 'RATE_LIMIT_EXCEEDED' },
        { '@type': `${type}BadRequest`, fieldViolations: [{ field: 'image_config.aspect_ratio' }] },
        { '@type': `${type}RetryInfo`, retryDelay: '16.2s' },
      ],
    },
  };
  const expected = {
    message: 'Quota',
    code: 'RATE_LIMIT_EXCEEDED',
    type: 'RESOURCE_EXHAUSTED',
    param: 'image_config.aspect_ratio',
    retryAfter: 17,
  };

  it('is a google.rpc.Status, bare or in a list', () => {
    expect(vendor.decodeError(status)).toEqual(expected);
    expect(vendor.decodeError([status])).toEqual(expected);
  });

  it('holds nothing that it must, and anything else is none', () => {
    expect(vendor.decodeError({ error: { details: [null, 7, { '@type': 7, retryDelay: 'soon' }] } })).toEqual({
      message: 'The vendor reported an error.',
      code: null,
      type: null,
      param: null,
      retryAfter: null,
    });
    for (const body of [null, 'x', [], {}, { error: 'x' }, { error: null }])
      expect(vendor.decodeError(body)).toBeNull();
  });
});
