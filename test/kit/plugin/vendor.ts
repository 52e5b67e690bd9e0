/** What a vendor's data comes to: the request that would be sent, and what its failures mean. */
import { relayBridge } from '../../../engine/chain/bridge.ts';
import { translateBridge } from '../../../engine/chain/chat/translate.ts';
import { compileTransport } from '../../../engine/chain/target.ts';
import { linkFailover } from '../../../engine/config/failover.ts';
import type {
  Channel,
  ChatCall,
  ChatProtocol,
  FailoverAction,
  FailureReason,
  ImageProtocol,
  JsonObject,
  Operation,
  VendorDefinition,
} from '../../../engine/plugin.ts';
import { failoverKey, vendorFailure } from '../../../engine/upstream/failure.ts';
import { ChannelHealth } from '../../../engine/upstream/health.ts';
import { Pools } from '../../../engine/upstream/pools.ts';
import { builtIns } from '../../../plugins/index.ts';
import { createExchange, type ExchangeGiven } from './exchange.ts';

export interface SentRequest {
  readonly url: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed where it is JSON, else its text. */
  readonly body: JsonObject | string;
}

export interface VendorVerdict {
  readonly reason: FailureReason;
  /** Whether the default failover table tries the next channel. */
  readonly action: FailoverAction;
  /** What the client hears when no channel is left. */
  readonly client: { readonly status: number; readonly code: string; readonly message: string };
}

export interface TestVendor {
  /** The request to the vendor; the model's name there is `vendor-model`, the credential `secret`. */
  request(given?: ExchangeGiven): SentRequest;
  /** What an error status with this body means, for `chat` or another operation. */
  failure(status: number, body: JsonObject, operation?: Operation): VendorVerdict;
}

export interface VendorGiven {
  /** Protocols that are not built in. */
  readonly protocols?: readonly (ChatProtocol | ImageProtocol)[];
  /** As in channels.yaml. */
  readonly channel?: Partial<Channel>;
}

function channelOf(vendor: VendorDefinition, given: Partial<Channel>): Channel {
  const { origin, pathname } = new URL(vendor.baseUrl);
  return {
    name: 'test',
    vendor,
    origin,
    basePath: pathname.replace(/\/$/, ''),
    credentials: ['secret'],
    models: new Map([['test-model', 'vendor-model']]),
    priority: 0,
    weight: 1,
    headers: {},
    parameters: { set: {}, remove: [] },
    timeouts: { connect: 5_000, firstByte: 300_000, idle: 120_000 },
    onAbort: 'cancel',
    cooldown: { failures: 3, first: 5_000, longest: 300_000 },
    protocols: Object.keys(vendor.speaks),
    ...given,
  };
}

function parsed(contentType: string, bytes: Buffer): JsonObject | string {
  return contentType === 'application/json' ? (JSON.parse(bytes.toString()) as JsonObject) : bytes.toString('latin1');
}

/** Opens nothing and sends nothing. Throws Error where the vendor names a protocol that does not exist. */
export function openVendor(vendor: VendorDefinition, given: VendorGiven = {}): TestVendor {
  const protocols = [...builtIns.protocols, ...(given.protocols ?? [])];
  const channel = channelOf(vendor, given.channel ?? {});
  const spoken = channel.protocols.map((name) => {
    const protocol = protocols.find((one) => one.name === name);
    if (protocol === undefined) throw new Error(`${vendor.name} speaks ${name}, which is no protocol`);
    return protocol;
  });
  const ofKind = (kind: 'chat' | 'image', preferred?: ChatProtocol | ImageProtocol) => {
    const fitting = spoken.filter((one) => one.kind === kind);
    const [first] = preferred !== undefined && fitting.includes(preferred) ? [preferred] : fitting;
    if (first === undefined) throw new Error(`${vendor.name} speaks no ${kind} protocol`);
    return first;
  };

  const encode = (exchange: ReturnType<typeof createExchange>) => {
    const { call } = exchange;
    if (call?.kind === 'image') {
      const protocol = ofKind('image') as ImageProtocol;
      const { contentType, pieces } = protocol.vendor!.encodeRequest(call, 'vendor-model');
      return { protocol, action: call.operation as string, contentType, bytes: Buffer.concat(pieces) };
    }
    const client = protocols.find((one) => one.name === exchange.route.protocol) as ChatProtocol;
    const protocol = ofKind('chat', client) as ChatProtocol;
    const bridge = protocol === client ? relayBridge(client) : translateBridge(client, protocol, []);
    const bytes = bridge.request(exchange, call as ChatCall, 'vendor-model', channel.parameters);
    return { protocol, action: call!.stream ? 'stream' : 'whole', contentType: 'application/json', bytes };
  };

  return {
    request(asked) {
      const { protocol, action, contentType, bytes } = encode(createExchange(asked));
      const candidate = { channel, vendorModel: 'vendor-model', weight: 1 };
      const transport = compileTransport(candidate, protocol.name, new Pools(), new ChannelHealth());
      const list = [...(transport.headers[0] ?? []), 'content-type', contentType];
      const headers = Object.fromEntries(
        list.flatMap((name, index) => (index % 2 === 0 ? [[name.toLowerCase(), list[index + 1]!]] : [])),
      );
      return { url: `${channel.origin}${transport.paths[action]}`, headers, body: parsed(contentType, bytes) };
    },
    failure(status, body, operation = 'chat') {
      const protocol = ofKind(operation === 'chat' ? 'chat' : 'image') as ChatProtocol | ImageProtocol;
      const reported = protocol.kind === 'chat' ? protocol.decodeError(body) : protocol.vendor!.decodeError(body);
      const failure = vendorFailure(vendor, status, reported, null);
      const { status: clientStatus, shownCode, message } = failure.error;
      const action = linkFailover({}, operation)[failoverKey(failure)] ?? 'stop';
      return { reason: failure.reason, action, client: { status: clientStatus, code: shownCode, message } };
    },
  };
}
