/** The engine's own side of an exchange: the contract's object plus what only the engine touches. */
import { performance } from 'node:perf_hooks';
import type { Attempt, Call, Exchange, Principal } from '../contract/exchange.ts';
import type { Offer, Route } from '../contract/model.ts';
import type { Hold } from '../contract/ports.ts';
import type { VideoCall } from '../contract/video.ts';
import type { GatewayError } from '../errors.ts';
import { emptyBody } from '../http/body.ts';
import type { Reply } from '../http/reply.ts';
import type { Upgrade } from '../http/sockets.ts';
import type { Deadline } from '../wire/deadline.ts';
import type { CompiledRoute } from './compiled-route.ts';
import type { Pin } from './responses/place.ts';
import type { Snapshot } from './snapshot.ts';
import type { Target } from './target.ts';

const processPart = crypto.randomUUID().replaceAll('-', '').slice(0, 14);
let counter = 0;

/** Unique over processes and restarts: the usage log is idempotent by it. */
export function nextRequestId(): string {
  counter++;
  return `req_${processPart}${counter.toString(36).padStart(7, '0')}`;
}

export class LiveExchange implements Exchange {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly parameter: string;
  readonly query: string;
  readonly startedAt = Date.now();
  readonly startedMono = performance.now();
  readonly reply: Reply;
  readonly compiled: CompiledRoute;
  readonly snapshot: Snapshot;
  readonly attempts: Attempt[] = [];
  readonly slots: unknown[];
  principal: Principal | null = null;
  body: Buffer = emptyBody;
  call: Call | null = null;
  hold: Hold | null = null;
  offer: Offer | null = null;
  channelOrigin = '';
  /** The head was accepted: from here on `onSettled` is owed exactly once. */
  owed = false;
  settled = false;
  deadline: Deadline | null = null;
  /** The attempts have begun and answer for abort and deadline themselves. */
  inCharge = false;
  onExpire: (() => void) | null = null;
  /** The client asks for a WebSocket. */
  upgrade: Upgrade | null = null;
  /** Set by whoever begins a stream of events: an error within it. */
  encodeStreamError: ((error: GatewayError, requestId: string) => string) | null = null;
  /** The one account that may be tried; null: any. */
  pin: Pin | null = null;
  /** Keeps the answer before its last byte goes out; never rejects. `bytes`: a whole one, or the last frames of a stream. */
  keepAnswer: ((bytes: Buffer, streamed: boolean, target: Target, credential: number) => Promise<void>) | null = null;
  /** Gives back what the request holds outside of memory; called once, when it has ended. */
  release: (() => void) | null = null;
  private listeners: (() => void)[] = [];

  constructor(
    reply: Reply,
    snapshot: Snapshot,
    compiled: CompiledRoute,
    method: string,
    path: string,
    parameter: string,
    query: string,
    headers: Readonly<Record<string, string>>,
  ) {
    this.id = reply.requestId;
    this.reply = reply;
    this.snapshot = snapshot;
    this.compiled = compiled;
    this.method = method;
    this.path = path;
    this.parameter = parameter;
    this.query = query;
    this.headers = headers;
    this.slots = new Array(snapshot.slotCount);
    reply.whenGone(() => this.leave());
  }

  get route(): Route {
    return this.compiled.route;
  }

  get aborted(): boolean {
    return this.reply.gone;
  }

  get firstByteAt(): number {
    return this.reply.firstByteAt;
  }

  get capture() {
    return this.reply.capture;
  }

  set capture(capture) {
    this.reply.capture = capture;
  }

  fingerprint(): readonly (string | Buffer)[] {
    const { call } = this;
    if (call?.kind === 'direct' && call.form !== null) return call.form.fingerprint;
    if (call?.kind === 'video' && this.body.length === 0) return fingerprintOf(call);
    if (this.body.length > 0 || call?.kind !== 'image') return [this.body];
    const { references, mask, claims: _claims, settings: _settings, ...said } = call;
    const files = references.map((file) => file.bytes);
    // What is a mask is told apart from one more reference.
    return [JSON.stringify(said), ...files, ...(mask === null ? [] : ['mask', mask.bytes])];
  }

  onAbort(listener: () => void): void {
    if (this.reply.gone) listener();
    else this.listeners.push(listener);
  }

  private leave(): void {
    const listeners = this.listeners;
    this.listeners = [];
    for (const listener of listeners) listener();
  }
}

/** A form's fields and files: its bytes are gone. */
function fingerprintOf({ model, request }: VideoCall): (string | Buffer)[] {
  const { references, ...said } = request;
  const files = references.map((one) => (one.kind === 'file' ? one.file.bytes : one.url));
  return [model, JSON.stringify(said), ...files];
}
