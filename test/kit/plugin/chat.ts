import { translateBridge } from '../../../engine/chain/chat/translate.ts';
import type { ChatProtocol, JsonObject, TokenUsage } from '../../../engine/plugin.ts';
import { createExchange } from './exchange.ts';

export interface StreamedText {
  /** What the client gets, without the closing marker. */
  readonly text: string;
  readonly usage: TokenUsage | null;
  /** The vendor's message where an error came within the stream. */
  readonly error: string | null;
  /** A finish reason was seen. */
  readonly complete: boolean;
}

export interface ChatBetween {
  /** The vendor's body for a client's. */
  request(body: JsonObject): JsonObject;
  /** The client's body for a vendor's whole answer; throws Error with the vendor's message where that is an error. */
  reply(body: JsonObject): JsonObject;
  /** The client's stream for a vendor's, which comes in pieces of `pieceSize` bytes. */
  stream(text: string, pieceSize?: number): StreamedText;
}

/** A request of no particular path. */
const noHead = { path: '', parameter: '', query: '' };

/** Two chat protocols as the engine puts them together; never the relay, also where both are the same. */
export function chatBetween(client: ChatProtocol, vendor: ChatProtocol): ChatBetween {
  const bridge = translateBridge(client, vendor, []);
  const exchange = createExchange();
  const call = (stream: boolean) => ({
    kind: 'chat' as const,
    model: 'test-model',
    stream,
    wantsUsage: true,
    maxOutputTokens: null,
    choices: 1,
    body: {},
  });
  return {
    request: (body) =>
      JSON.parse(
        JSON.stringify(vendor.encodeRequest(client.decodeRequest(client.readCall(body, noHead).body), 'vendor-model')),
      ),
    reply(body) {
      const reply = bridge.reply(exchange, call(false), Buffer.from(JSON.stringify(body)));
      if (reply.error !== null) throw new Error(reply.error.message);
      return JSON.parse(reply.body.toString());
    },
    stream(text, pieceSize = 64) {
      const tap = bridge.stream(exchange, call(true));
      const bytes = Buffer.from(text);
      const out: Buffer[] = [];
      for (let from = 0; from < bytes.length; from += pieceSize)
        out.push(tap.push(bytes.subarray(from, from + pieceSize)) ?? Buffer.alloc(0));
      out.push(tap.flush() ?? Buffer.alloc(0));
      const { usage, error, complete } = tap;
      return { text: Buffer.concat(out).toString(), usage, error: error?.message ?? null, complete };
    },
  };
}
