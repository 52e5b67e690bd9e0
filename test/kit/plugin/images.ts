import type { ImageProtocol, ImageResult, ImageSettings, JsonObject, VendorError } from '../../../engine/plugin.ts';
import { createExchange, type ExchangeGiven } from './exchange.ts';
import { asRefusal, type Refusal } from './refusal.ts';

export interface VendorImages {
  /** Content type and text of the vendor's body for a client's request; `settings` stand for the normalizer's work. */
  request(
    given?: ExchangeGiven,
    settings?: Partial<ImageSettings>,
  ): { readonly contentType: string; readonly text: string };
  /** What the codec reads from a 200. */
  reply(body: JsonObject | Buffer): ImageResult | Refusal;
  /** What it reads from an error body; null: not an error it knows. */
  error(body: JsonObject): VendorError | null;
}

/** The vendor's side of an image protocol. */
export function imagesOf(protocol: ImageProtocol): VendorImages {
  const { vendor } = protocol;
  if (vendor === undefined) throw new Error(`no vendor speaks ${protocol.name}`);
  return {
    request(given = {}, settings = {}) {
      const { call } = createExchange({ protocol: 'openai-images', ...given });
      if (call?.kind !== 'image') throw new Error('this is no image request');
      Object.assign(call.settings, settings);
      const { contentType, pieces } = vendor.encodeRequest(call, 'vendor-model');
      return { contentType, text: Buffer.concat(pieces).toString() };
    },
    reply(body) {
      try {
        return vendor.decodeReply(Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body)));
      } catch (thrown) {
        return asRefusal(thrown);
      }
    },
    error: (body) => vendor.decodeError(body),
  };
}
