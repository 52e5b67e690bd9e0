import { describe, expect, it } from 'vitest';
import { compileSchema } from '../../engine/config/validate.ts';
import {
  type DeliveredImage,
  GatewayError,
  type Hooks,
  type Host,
  type ImageCall,
  type JsonObject,
  type Objects,
  type ObjectToStore,
  type ResultImage,
} from '../../engine/plugin.ts';
import storage from '../../plugins/storage/storage.ts';
import { encodePng } from '../../simulator/images/png.ts';
import { engines } from '../objects/engines.ts';
import { recordingLog } from '../objects/recording-log.ts';
import { exchangeOf, imageCall, png } from './support.ts';

/** Objects in memory that keep a record and can be told to fail. */
function memoryObjects(failAt = Number.POSITIVE_INFINITY) {
  const kept = new Map<string, ObjectToStore>();
  const lifetimes: (number | undefined)[] = [];
  let puts = 0;
  const objects: Objects = {
    async put(object) {
      puts++;
      if (puts >= failAt) throw new GatewayError('storage_failed');
      const key = `${object.prefix}/${puts}`;
      kept.set(key, object);
      return { key, length: object.length, contentType: object.contentType };
    },
    async sign(key, lifetime) {
      lifetimes.push(lifetime);
      return `https://gateway.test/files/${key}?signature=x`;
    },
    async delete(key) {
      kept.delete(key);
    },
    async close() {},
  };
  return { objects, kept, lifetimes };
}

const fetches: unknown[] = [];
function createHooks(objects: Objects, options: JsonObject = {}, fetched: Buffer = png()): Hooks {
  expect(compileSchema(storage.options)(options)).toEqual([]);
  const host = {
    objects,
    log: recordingLog(),
    async fetch(url: string, limits: object) {
      fetches.push({ url, ...limits });
      return { bytes: fetched, contentType: 'text/plain' };
    },
  };
  return storage.create(options as never, host as unknown as Host) as Hooks;
}

const base64 = (bytes: Buffer): ResultImage => ({
  source: { kind: 'base64', base64: Buffer.from(bytes.toString('base64')) },
  mediaType: 'image/webp',
  revisedPrompt: 'x',
});
const raw = (text: string): ResultImage => ({
  ...base64(png()),
  source: { kind: 'base64', base64: Buffer.from(text) },
});
const link: ResultImage = {
  source: { kind: 'url', url: 'https://vendor.test/a.png' },
  mediaType: null,
  revisedPrompt: null,
};

async function deliver(
  hooks: Hooks,
  images: readonly ResultImage[],
  call: Partial<ImageCall>,
): Promise<readonly DeliveredImage[]> {
  const settings = { ...imageCall().settings, n: images.length };
  const result = { created: null, images, usage: null, extra: {}, refused: 0 };
  return hooks.onImages!(exchangeOf(imageCall({}, { settings, ...call })), result, new AbortController().signal);
}

const url = { responseFormat: 'url' } as const;
const inline = { responseFormat: 'b64_json' } as const;

describe('url', () => {
  it('2.3 Base64 is stored as what its bytes are, and its signed URL answered', async () => {
    const { objects, kept, lifetimes } = memoryObjects();
    const images = await deliver(createHooks(objects, { urlLifetime: 60 }), [base64(png(48, 32))], url);
    expect(images).toEqual([
      {
        url: 'https://gateway.test/files/images/1?signature=x',
        base64: null,
        mediaType: 'image/png',
        width: 48,
        height: 32,
        revisedPrompt: 'x',
      },
    ]);
    expect(kept.get('images/1')).toEqual({
      body: png(48, 32),
      length: png(48, 32).length,
      contentType: 'image/png',
      prefix: 'images',
    });
    expect(lifetimes).toEqual([60]);
  });

  it('2.3 a vendor’s URL is fetched and stored, never handed out', async () => {
    fetches.length = 0;
    const { objects, kept } = memoryObjects();
    const [image] = await deliver(createHooks(objects), [link], url);
    expect(image!.url).toMatch(/^https:\/\/gateway\.test\//);
    expect(kept.size).toBe(1);
    expect(fetches).toEqual([
      {
        url: 'https://vendor.test/a.png',
        trustedOrigin: 'https://vendor.test',
        maximumBytes: 67_108_864,
        timeout: 60_000,
        signal: expect.any(AbortSignal),
      },
    ]);
  });

  it('several images keep their order', async () => {
    const sizes = Array.from({ length: 10 }, (_, index) => 16 + index);
    const images = await deliver(
      createHooks(memoryObjects().objects),
      sizes.map((width) => base64(png(width, 16))),
      url,
    );
    expect(images.map(({ width }) => width)).toEqual(sizes);
  });

  it('8 more images than n are not delivered', async () => {
    const { objects, kept } = memoryObjects();
    const settings = { ...imageCall().settings, n: 1 };
    expect(await deliver(createHooks(objects), [base64(png()), base64(png())], { ...url, settings })).toHaveLength(1);
    expect(kept.size).toBe(1);
  });

  it('7 a storage fault fails the request and takes back what was stored', async () => {
    const { objects, kept } = memoryObjects(3);
    const images = [base64(png()), base64(png()), base64(png())];
    await expect(deliver(createHooks(objects), images, url)).rejects.toMatchObject({
      code: 'storage_failed',
      status: 502,
    });
    expect(kept.size).toBe(0);
  });

  it('7 a fault of any other kind is a storage fault too', async () => {
    const { objects, kept } = memoryObjects();
    const broken = { ...objects, sign: () => Promise.reject(new Error('no clock')) };
    await expect(deliver(createHooks(broken), [base64(png())], url)).rejects.toMatchObject({ code: 'storage_failed' });
    expect(kept.size).toBe(0);
  });
});

describe('b64_json', () => {
  it('2.3 the vendor’s Base64 passes uncopied, and nothing is stored', async () => {
    const { objects, kept } = memoryObjects(1);
    const image = base64(png());
    const [answer] = await deliver(createHooks(objects), [image], inline);
    expect(answer).toMatchObject({ url: null, mediaType: 'image/png', width: 48, height: 32 });
    expect(answer!.base64).toBe(image.source.kind === 'base64' && image.source.base64);
    expect(kept.size).toBe(0);
  });

  it('2.3 a vendor’s URL is fetched and turned into Base64', async () => {
    const [answer] = await deliver(createHooks(memoryObjects(1).objects), [link], inline);
    expect(answer!.url).toBeNull();
    expect(Buffer.from(answer!.base64!.toString(), 'base64')).toEqual(png());
  });

  it.each([0, 3_000, 60_000, 300_000])('a JPEG says its size after %i bytes of provenance', async (length) => {
    const segments: Buffer[] = [];
    for (let left = length; left > 0; left -= 60_000) {
      const content = Buffer.alloc(Math.min(left, 60_000), 7);
      segments.push(Buffer.from([0xff, 0xeb, (content.length + 2) >> 8, (content.length + 2) & 0xff]), content);
    }
    const frame = Buffer.from([0xff, 0xc0, 0, 11, 8, 0, 32, 0, 48, 1, 1, 0x11, 0, 0xff, 0xd9]);
    const jpeg = Buffer.concat([Buffer.from([0xff, 0xd8]), ...segments, frame]);
    const [answer] = await deliver(createHooks(memoryObjects(1).objects), [base64(jpeg)], inline);
    expect(answer).toMatchObject({ mediaType: 'image/jpeg', width: 48, height: 32 });
  });

  it('an image larger than the part that is looked at passes whole', async () => {
    const large = encodePng(64, 64, [1, 2, 3], 400_000);
    expect(large.length).toBeGreaterThan(300_000);
    const [answer] = await deliver(createHooks(memoryObjects(1).objects), [base64(large)], inline);
    expect(Buffer.from(answer!.base64!.toString(), 'base64')).toEqual(large);
  });
});

describe.each([
  ['url', url],
  ['b64_json', inline],
] as const)('7 what is no image is no success: %s', (_, format) => {
  const hooks = createHooks(memoryObjects().objects);
  const good = png().toString('base64');
  it.each<[string, ResultImage]>([
    ['text', base64(Buffer.from('Sorry, I cannot draw that.'))],
    ['HTML', base64(Buffer.from('<svg onload="alert(1)">'))],
    ['characters that are no Base64', raw(`*${good.slice(1)}`)],
    ['a line break', raw(`${good.slice(0, 40)}\n\n\n\n${good.slice(40)}`)],
    ['a quote that would end the JSON', raw(`${good.slice(0, -4)}","x"`)],
    ['a length that is none', raw(good.slice(0, -1))],
    ['nothing', raw('')],
  ])('%s', async (_name, image) => {
    await expect(deliver(hooks, [image], format)).rejects.toMatchObject({
      code: 'upstream_invalid_response',
      status: 502,
    });
  });

  it('an image above the limit', async () => {
    const small = createHooks(memoryObjects().objects, { maximumBytes: 1024 });
    const large = encodePng(64, 64, [1, 2, 3], 5000);
    await expect(deliver(small, [base64(large)], format)).rejects.toMatchObject({ code: 'upstream_invalid_response' });
  });

  it('what stands behind a vendor’s URL', async () => {
    const fetching = createHooks(memoryObjects().objects, {}, Buffer.from('<html>gone</html>'));
    await expect(deliver(fetching, [link], format)).rejects.toMatchObject({ code: 'upstream_invalid_response' });
  });
});

it('7 nothing is left in a real folder of a request whose second image is none', async () => {
  const { objects, stored, close } = await engines.find(({ name }) => name === 'folder')!.open();
  try {
    await deliver(createHooks(objects), [base64(png())], url);
    expect(await stored()).toHaveLength(1);
    const images = [base64(png()), base64(Buffer.from('no image, just text'))];
    await expect(deliver(createHooks(objects), images, url)).rejects.toMatchObject({
      code: 'upstream_invalid_response',
    });
    expect(await stored()).toHaveLength(1);
  } finally {
    await close();
  }
});
