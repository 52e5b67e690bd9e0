/**
 * How a direct request gets from a client's protocol to a vendor's and back: equal protocols take the relay, different
 * ones go through the neutral request and result. Both look the same to the run.
 */
import type { AnswerShape, DirectCall, DirectProtocol, DirectReply, DirectTap } from '../../contract/direct.ts';
import type { Exchange } from '../../contract/exchange.ts';
import type { JsonValue } from '../../contract/values.ts';
import type { ParameterOverrides, VendorError } from '../../contract/wire.ts';
import { encodeUpload } from '../../http/upload-form.ts';
import type { StreamedBody } from '../../upstream/pools.ts';
import { overridden } from '../../wire/overrides.ts';
import { withVendorModel } from '../../wire/vendor-model.ts';

export interface DirectBody {
  readonly contentType: string;
  readonly body: Buffer | StreamedBody;
}

export interface DirectBridge {
  request(exchange: Exchange, call: DirectCall, vendorModel: string, overrides: ParameterOverrides | null): DirectBody;
  shape(call: DirectCall, contentType: string, first: Buffer): AnswerShape | null;
  /** Throws where the body cannot be read. */
  reply(call: DirectCall, body: Buffer, contentType: string): DirectReply;
  /** Null: the protocol has no events. */
  events(call: DirectCall): DirectTap | null;
  bytesType(call: DirectCall, contentType: string): string;
  decodeError(body: JsonValue): VendorError | null;
}

const json = 'application/json';

/** Null: the two cannot serve one another. */
export function directBridge(client: DirectProtocol, vendor: DirectProtocol): DirectBridge | null {
  if (client === vendor && client.relay !== undefined) return relayBridge(client.relay);
  const canTranslate = client.client?.decodeRequest !== undefined && vendor.vendor !== undefined;
  return canTranslate && client.operation === vendor.operation ? translateBridge(client, vendor) : null;
}

function relayBridge(relay: NonNullable<DirectProtocol['relay']>): DirectBridge {
  return {
    request({ body }, call, vendorModel, overrides) {
      if (call.form !== null) return encodeUpload(call.form, vendorModel, overrides);
      return { contentType: json, body: withVendorModel(body, call.body.model ?? null, vendorModel, overrides) };
    },
    shape: (call, contentType, first) => relay.shape(call, contentType, first),
    reply: (call, body, contentType) => relay.reply(body, call, contentType),
    events: (call) => relay.events?.(call) ?? null,
    bytesType: (call, contentType) => relay.bytesType?.(call, contentType) ?? contentType,
    decodeError: (body) => relay.decodeError(body),
  };
}

function translateBridge({ client }: DirectProtocol, { vendor }: DirectProtocol): DirectBridge {
  const decode = (call: DirectCall) => client!.decodeRequest!(call);
  return {
    request(_exchange, call, vendorModel, overrides) {
      const body = Buffer.from(JSON.stringify(vendor!.encodeRequest(decode(call), vendorModel)));
      return { contentType: json, body: overridden(body, overrides) };
    },
    shape: () => 'whole',
    reply(call, body) {
      const value = JSON.parse(body.toString('utf8')) as JsonValue;
      const error = vendor!.decodeError(value);
      if (error !== null) return { body, counts: {}, error };
      const { result, counts } = vendor!.decodeReply(value, decode(call));
      const { source: _source, ...estimated } = call.bound;
      const reply = client!.encodeReply!(result, call, { ...estimated, ...counts });
      return { body: Buffer.from(JSON.stringify(reply)), counts, error: null };
    },
    events: () => null,
    bytesType: (_call, contentType) => contentType,
    decodeError: (body) => vendor!.decodeError(body),
  };
}
