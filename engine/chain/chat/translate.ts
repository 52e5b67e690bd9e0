/** The bridge between two chat protocols: neutral requests one way, neutral events the other. */
import type { ChatCall, ChatEvent, ChatProtocol, StreamEncoder, StreamTap } from '../../contract/chat.ts';
import type { Exchange } from '../../contract/exchange.ts';
import type { TokenUsage } from '../../contract/usage.ts';
import type { JsonValue } from '../../contract/values.ts';
import type { SseFrame, VendorError } from '../../contract/wire.ts';
import type { GatewayError } from '../../errors.ts';
import type { Hooks } from '../../plugin.ts';
import { overridden } from '../../wire/overrides.ts';
import { SseReader } from '../../wire/sse.ts';
import type { ChatBridge } from '../bridge.ts';
import { type EventRule, fitted } from './fit.ts';

export type EventHook = NonNullable<Hooks['onEvent']>;

export function translateBridge(client: ChatProtocol, vendor: ChatProtocol, hooks: readonly EventHook[]): ChatBridge {
  /** What is done to the answers of requests that their vendor did not take as they were. */
  const rules = new WeakMap<ChatCall, () => EventRule>();
  return {
    request(exchange, call, vendorModel, overrides) {
      // The hooks see events only: between equal protocols the request still passes byte for byte.
      if (client === vendor) return client.relay.request(exchange.body, call, vendorModel, overrides);
      const { model, stream } = call;
      const { request, answer } = fitted({ ...client.decodeRequest(call.body), model, stream }, vendor);
      if (answer !== null) rules.set(call, answer);
      const body = vendor.encodeRequest(request, vendorModel, exchange.offer?.model.maxOutputTokens);
      return overridden(Buffer.from(JSON.stringify(body)), overrides);
    },
    reply(exchange, call, body) {
      const value = JSON.parse(body.toString('utf8')) as JsonValue;
      const error = vendor.decodeError(value);
      if (error !== null) return { body, usage: null, error, estimatedOutput: 0 };
      // What is charged is what the vendor said, whatever a hook makes of it.
      const events = vendor.decodeReply(value);
      const rule = rules.get(call)?.();
      const told = rule === undefined ? events : events.flatMap(rule);
      const reply = client.encodeReply(applyHooks(exchange, hooks, told), call);
      return {
        body: Buffer.from(JSON.stringify(reply)),
        usage: usageOf(events),
        error: null,
        estimatedOutput: estimate(events),
        images: events.filter(({ type }) => type === 'image').length,
      };
    },
    stream: (exchange, call) => new TranslatingTap(exchange, call, client, vendor, hooks, rules.get(call)?.() ?? null),
    decodeError: vendor.decodeError,
  };
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
  images = 0;
  private readonly ended = new Set<number>();
  private characters = 0;
  private readonly reader = new SseReader();
  private readonly decode: (frame: SseFrame) => ChatEvent[];
  private readonly isLast: ((frame: SseFrame) => boolean) | undefined;
  private readonly encoder: StreamEncoder;
  private readonly exchange: Exchange;
  private readonly choices: number;
  private readonly hooks: readonly EventHook[];
  private readonly rule: EventRule | null;

  constructor(
    exchange: Exchange,
    call: ChatCall,
    client: ChatProtocol,
    vendor: ChatProtocol,
    hooks: readonly EventHook[],
    rule: EventRule | null,
  ) {
    this.rule = rule;
    this.exchange = exchange;
    this.choices = call.choices;
    this.hooks = hooks;
    this.decode = vendor.decodeStream();
    this.isLast = vendor.isLastFrame;
    this.encoder = client.encodeStream(call);
  }

  get answered(): boolean {
    return this.ended.size >= this.choices;
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

  closing(): Buffer {
    return Buffer.from(this.encoder.end());
  }

  encodeError(error: GatewayError, requestId: string): string {
    return this.encoder.encodeError(error, requestId);
  }

  private translate(frames: readonly SseFrame[]): Buffer | null {
    let text = '';
    for (const frame of frames) {
      if (this.error !== null || this.finished) break;
      this.begun = true;
      if (frame.data === '[DONE]' || this.isLast?.(frame)) this.finished = true;
      const events = this.decode(frame);
      for (const event of events) this.note(event);
      const told = this.rule === null ? events : this.ruled(events, this.rule);
      for (const event of applyHooks(this.exchange, this.hooks, told)) {
        if (event.type !== 'error') text += this.encoder.encode(event);
      }
    }
    return text === '' ? null : Buffer.from(text);
  }

  private ruled(events: readonly ChatEvent[], rule: EventRule): ChatEvent[] {
    const told = events.flatMap(rule);
    for (const event of told) if (event.type === 'finish') this.ended.add(event.choice);
    return told;
  }

  /** Before the hooks: what is charged is what the vendor said. */
  private note(event: ChatEvent): void {
    if (event.type === 'usage') this.usage = event.usage;
    else if (event.type === 'finish') this.complete = true;
    else if (event.type === 'image') this.images++;
    else if (event.type === 'error') this.error = vendorErrorOf(event.error);
    else if ('text' in event) this.characters += event.text.length;
  }
}

function vendorErrorOf({ message, shownCode, type, param, retryAfter }: GatewayError): VendorError {
  return { message, code: shownCode, type, param, retryAfter };
}
