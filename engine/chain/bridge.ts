/**
 * How chat bytes get from a client's protocol to a vendor's and back. Equal protocols take the relay; different ones
 * go through neutral requests and events (`translate.ts`). Both look the same to the attempt.
 */
import type { ChatCall, ChatProtocol, StreamTap } from '../contract/chat.ts';
import type { Exchange } from '../contract/exchange.ts';
import type { TokenUsage } from '../contract/usage.ts';
import type { JsonValue } from '../contract/values.ts';
import type { ParameterOverrides, VendorError } from '../contract/wire.ts';

export interface WholeReply {
  readonly body: Buffer;
  readonly usage: TokenUsage | null;
  readonly error: VendorError | null;
  readonly estimatedOutput: number;
  readonly images?: number;
}

export interface ChatBridge {
  request(exchange: Exchange, call: ChatCall, vendorModel: string, overrides: ParameterOverrides | null): Buffer;
  /** Throws where the body cannot be parsed. */
  reply(exchange: Exchange, call: ChatCall, body: Buffer): WholeReply;
  stream(exchange: Exchange, call: ChatCall): StreamTap;
  decodeError(body: JsonValue): VendorError | null;
}

export function relayBridge(protocol: ChatProtocol): ChatBridge {
  const { relay } = protocol;
  return {
    request: (exchange, call, vendorModel, overrides) => relay.request(exchange.body, call, vendorModel, overrides),
    reply: (_exchange, _call, body) => {
      const { usage, error, estimatedOutput, images = 0 } = relay.reply(body);
      return { body, usage, error, estimatedOutput, images };
    },
    stream: (_exchange, call) => relay.stream(call),
    decodeError: protocol.decodeError,
  };
}
