/**
 * How chat bytes get from a client's protocol to a vendor's and back. Equal protocols take the relay; different ones
 * go through neutral requests and events. Both look the same to the attempt.
 */
import type {
  ChatCall,
  ChatEvent,
  ChatProtocol,
  ParameterOverrides,
  SseFrame,
  StreamTap,
  VendorError,
} from '../contract/chat.ts';
import type { Exchange } from '../contract/exchange.ts';
import type { TokenUsage } from '../contract/usage.ts';
import type { JsonValue } from '../contract/values.ts';
import type { Hooks } from '../plugin.ts';
import { rewriteMembers } from '../wire/json.ts';
import { SseReader } from '../wire/sse.ts';

export type EventHook = NonNullable<Hooks['onEvent']>;

export interface WholeReply {
  readonly body: Buffer;
  readonly usage: TokenUsage | null;
  readonly error: VendorError | null;
  readonly estimatedOutput: number;
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
    reply: (_exchange, _call, body) => ({ body, ...relay.reply(body) }),
    stream: (_exchange, call) => relay.stream(call),
    decodeError: protocol.decodeError,
  };
}

export function translateBridge(client: ChatProtocol, vendor: ChatProtocol, hooks: readonly EventHook[]): ChatBridge {
  return {
    request(_exchange, call, vendorModel, overrides) {
      const body = vendor.encodeRequest(client.decodeRequest(call.body), vendorModel);
      return overridden(Buffer.from(JSON.stringify(body)), overrides);
    },
    reply(exchange, call, body) {
      const value = JSON.parse(body.toString('utf8')) as JsonValue;
      const error = vendor.decodeError(value);
      if (error !== null) return { body, usage: null, error, estimatedOutput: 0 };
      const events = applyHooks(exchange, hooks, vendor.decodeReply(value));
      const reply = client.encodeReply(events, call);
      return {
        body: Buffer.from(JSON.stringify(reply)),
        usage: usageOf(events),
        error: null,
        estimatedOutput: estimate(events),
      };
    },
    stream: (exchange, call) => new TranslatingTap(exchange, call, client, vendor, hooks),
    decodeError: vendor.decodeError,
  };
}

/** A channel's own laws laid over a body that is already written. */
export function overridden(body: Buffer, overrides: ParameterOverrides | null): Buffer {
  if (overrides === null) return body;
  return rewriteMembers(body, overrideChanges(overrides));
}

export function overrideChanges(overrides: ParameterOverrides): Map<string, string | null> {
  const changes = new Map<string, string | null>();
  for (const name of overrides.remove) changes.set(name, null);
  for (const [name, value] of Object.entries(overrides.set)) changes.set(name, JSON.stringify(value));
  return changes;
}

function applyHooks(exchange: Exchange, hooks: readonly EventHook[], events: readonly ChatEvent[]): ChatEvent[] {
  const kept: ChatEvent[] = [];
  for (const event of events) {
    let current: ChatEvent | null = event;
    for (const hook of hooks) {
      if (current === null) break;
      current = hook(exchange, current);
    }
    if (current !== null) kept.push(current);
  }
  return kept;
}

function usageOf(events: readonly ChatEvent[]): TokenUsage | null {
  let usage: TokenUsage | null = null;
  for (const event of events) if (event.type === 'usage') usage = event.usage;
  return usage;
}

/** Four characters of output are about one token. */
function estimate(events: readonly ChatEvent[]): number {
  let characters = 0;
  for (const event of events) if ('text' in event) characters += event.text.length;
  return Math.ceil(characters / 4);
}

/** A vendor's stream in one protocol, a client's in another. */
class TranslatingTap implements StreamTap {
  begun = false;
  finished = false;
  complete = false;
  usage: TokenUsage | null = null;
  error: VendorError | null = null;
  private characters = 0;
  private readonly reader = new SseReader();
  private readonly decode: (frame: SseFrame) => ChatEvent[];
  private readonly encode: (event: ChatEvent) => string;
  private readonly exchange: Exchange;
  private readonly hooks: readonly EventHook[];

  constructor(
    exchange: Exchange,
    call: ChatCall,
    client: ChatProtocol,
    vendor: ChatProtocol,
    hooks: readonly EventHook[],
  ) {
    this.exchange = exchange;
    this.hooks = hooks;
    this.decode = vendor.decodeStream();
    this.encode = client.encodeStream(call);
  }

  get estimatedOutput(): number {
    return Math.ceil(this.characters / 4);
  }

  push(chunk: Buffer): Buffer | null {
    return this.translate(this.reader.push(chunk));
  }

  flush(): Buffer | null {
    return this.translate(this.reader.end());
  }

  private translate(frames: readonly SseFrame[]): Buffer | null {
    let text = '';
    for (const frame of frames) {
      this.begun = true;
      for (const event of applyHooks(this.exchange, this.hooks, this.decode(frame))) text += this.take(event);
    }
    return text === '' ? null : Buffer.from(text);
  }

  private take(event: ChatEvent): string {
    if (event.type === 'usage') this.usage = event.usage;
    else if (event.type === 'finish') this.complete = true;
    else if ('text' in event) this.characters += event.text.length;
    else if (event.type === 'error') {
      this.error = {
        message: event.error.message,
        code: event.error.shownCode,
        type: event.error.type,
        param: event.error.param,
        retryAfter: event.error.retryAfter,
      };
      return '';
    }
    return this.encode(event);
  }
}
