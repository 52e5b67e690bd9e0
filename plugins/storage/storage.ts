import {
  type DeliveredImage,
  decodeBase64,
  decodeBase64InPlace,
  definePlugin,
  type Exchange,
  encodeBase64,
  GatewayError,
  type Host,
  type ImageCall,
  type ImageResult,
  type ImageType,
  isJsonSafe,
  type ResultImage,
  type StoredObject,
  sniffImage,
} from '../../engine/plugin.ts';

interface Settings {
  readonly urlLifetime: number | undefined;
  readonly maximumBytes: number;
  readonly fetchTimeout: number;
}

/** Images handled at the same time within one request; each is held in memory twice for a moment. */
const parallel = 4;

/** Base64 characters that hold an image's size: of most, of nearly all, and with signed provenance (C2PA) before it. */
const heads = [1024, 128 * 1024, Number.POSITIVE_INFINITY];

const unusable = (what: string): GatewayError =>
  new GatewayError('upstream_invalid_response', `The vendor’s image cannot be used: ${what}. Nothing was charged.`);

const noImage = () => unusable('it is no PNG, JPEG, WebP or GIF');

function requireImage(bytes: Buffer): ImageType {
  const type = sniffImage(bytes);
  if (type === null) throw noImage();
  return type;
}

function delivered({ revisedPrompt }: ResultImage, { mediaType, width, height }: ImageType) {
  return { mediaType, width, height, revisedPrompt };
}

function requireBytes(bytes: Buffer | null): Buffer {
  if (bytes === null) throw unusable('it is no Base64');
  return bytes;
}

function typeOf(base64: Buffer): ImageType {
  for (const characters of heads) {
    const type = sniffImage(requireBytes(decodeBase64(base64.subarray(0, characters))));
    if (type !== null) return type;
  }
  throw noImage();
}

/** The vendor's Base64 passes as it is; only its beginning is decoded, to know that it is an image. */
function passBase64(image: ResultImage, base64: Buffer): DeliveredImage {
  if (base64.length % 4 !== 0 || !isJsonSafe(base64)) throw unusable('it is no Base64');
  return { url: null, base64, ...delivered(image, typeOf(base64)) };
}

interface Order {
  readonly exchange: Exchange;
  readonly call: ImageCall;
  readonly signal: AbortSignal;
}

async function bytesOf({ source }: ResultImage, order: Order, host: Host, settings: Settings): Promise<Buffer> {
  if (source.kind === 'url') {
    const { maximumBytes, fetchTimeout: timeout } = settings;
    const { exchange, signal } = order;
    const limits = { trustedOrigin: exchange.channelOrigin, maximumBytes, timeout, signal };
    return (await host.fetch(source.url, limits)).bytes;
  }
  // Nobody reads the vendor's answer again.
  return requireBytes(decodeBase64InPlace(source.base64));
}

function storageFault(thrown: unknown): GatewayError {
  return thrown instanceof GatewayError ? thrown : new GatewayError('storage_failed', undefined, { cause: thrown });
}

/** One request's images: what was stored is known, so that it can be taken back when another image fails. */
function createDelivery(order: Order, host: Host, settings: Settings) {
  const { exchange, call } = order;
  const stored: StoredObject[] = [];

  const store = async (image: ResultImage, bytes: Buffer): Promise<DeliveredImage> => {
    const type = requireImage(bytes);
    try {
      const object = await host.objects.put({
        body: bytes,
        length: bytes.length,
        contentType: type.mediaType,
        prefix: 'images',
      });
      stored.push(object);
      const url = await host.objects.sign(object.key, settings.urlLifetime);
      return { url, base64: null, ...delivered(image, type) };
    } catch (thrown) {
      throw storageFault(thrown);
    }
  };

  const deliver = async (image: ResultImage): Promise<DeliveredImage> => {
    const { source } = image;
    const inline = call.responseFormat === 'b64_json';
    if (source.kind === 'base64' && source.base64.length > (settings.maximumBytes / 3) * 4 + 4) {
      throw unusable('it is too large');
    }
    if (inline && source.kind === 'base64') return passBase64(image, source.base64);
    const bytes = await bytesOf(image, order, host, settings);
    if (!inline) return store(image, bytes);
    return { url: null, base64: encodeBase64(bytes), ...delivered(image, requireImage(bytes)) };
  };

  /** Nobody will ever be told these URLs. */
  const takeBack = async (): Promise<void> => {
    const results = await Promise.allSettled(stored.map(({ key }) => host.objects.delete(key)));
    for (const result of results) {
      if (result.status === 'rejected') {
        host.log.warn({ error: result.reason, requestId: exchange.id }, 'A stored image could not be deleted.');
      }
    }
  };

  return { deliver, takeBack };
}

/** Runs at most `parallel` at a time, keeps the order, waits for all that began; throws the first error. */
async function mapBounded<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) results[index] = await run(items[index]!);
  };
  const workers = await Promise.allSettled(Array.from({ length: Math.min(parallel, items.length) }, work));
  const failed = workers.find((worker) => worker.status === 'rejected');
  if (failed) throw failed.reason;
  return results;
}

/**
 * Turns what the vendor answered into what the client asked for (spec 2.3): a signed URL of a stored copy, or Base64.
 * A vendor's URL is never handed out. With `b64_json` nothing is stored, so no storage fault can lose the image.
 */
export default definePlugin({
  name: 'storage',
  summary: 'Stores images and signs their URLs, or answers them as Base64.',
  options: {
    type: 'object',
    additionalProperties: false,
    properties: {
      urlLifetime: {
        type: 'integer',
        description: 'Seconds until a signed URL expires; absent: what gateway.yaml says.',
        minimum: 1,
        maximum: 604_800,
      },
      maximumBytes: {
        type: 'integer',
        description: 'Bytes an image may have.',
        minimum: 1024,
        maximum: 268_435_456,
        default: 67_108_864,
      },
      fetchTimeout: {
        type: 'integer',
        description: 'Milliseconds for fetching an image that the vendor named by URL.',
        minimum: 100,
        default: 60_000,
      },
    },
  },
  create({ urlLifetime, maximumBytes, fetchTimeout }, host) {
    const settings: Settings = { urlLifetime, maximumBytes, fetchTimeout };
    return {
      async onImages(exchange: Exchange, result: ImageResult, signal: AbortSignal) {
        const { call } = exchange;
        if (call?.kind !== 'image') return [];
        const delivery = createDelivery({ exchange, call, signal }, host, settings);
        try {
          // More than was asked for was not ordered and is not charged.
          return await mapBounded(result.images.slice(0, call.settings.n), delivery.deliver);
        } catch (thrown) {
          await delivery.takeBack();
          throw thrown;
        }
      },
    };
  },
});
