/** Where every request comes in: route, head hooks, deadline, then the route's operator. */
import { noUsage } from '../contract/usage.ts';
import { GatewayError, toGatewayError } from '../errors.ts';
import { type HeaderPairs, type NativeResponse, Reply } from '../http/reply.ts';
import { Router, suggestPath } from '../http/router.ts';
import type { Upgrade } from '../http/sockets.ts';
import type { Registry } from '../plugin.ts';
import { startDeadline } from '../wire/deadline.ts';
import type { CompiledRoute, ReplyForm } from './compiled-route.ts';
import { Ending } from './ending.ts';
import { LiveExchange, nextRequestId } from './exchange.ts';
import { whenReady } from './flow.ts';
import { runHead } from './hooks.ts';
import { nearestForm } from './nearest-form.ts';
import type { Operator } from './operator.ts';
import { type OperatorOptions, operatorFor } from './operators.ts';
import { Sessions } from './realtime/sessions.ts';
import type { Observer } from './settle.ts';
import type { Snapshot } from './snapshot.ts';
import { verbsBeside } from './verbs.ts';

/** The request head as uWS lends it: valid only during the call. */
export interface NativeHead {
  getHeader(name: string): string;
}

/** What a client sent, as far as an answer repeats it. */
const shown = (text: string): string => text.slice(0, 200);

const unknownVerb = (path: string, verbs: readonly string[]): GatewayError =>
  new GatewayError('unknown_url', `${shown(path)} names no verb that there is. There are ${verbs.join(', ')}.`);

interface Entry {
  readonly compiled: CompiledRoute;
  readonly operator: Operator;
}

export interface RunnerOptions extends OperatorOptions {
  /** Paths that no route has (health, metrics, files); false: not its path either. */
  other(reply: Reply, head: NativeHead, method: string, path: string, query: string): boolean;
  readonly observer: Observer;
}

export class Runner {
  snapshot: Snapshot;
  private router: Router<Entry>;
  /** Snapshots of earlier configurations whose last request has not ended. */
  private readonly retiring = new Set<Snapshot>();
  private readonly ending: Ending;
  private readonly options: RunnerOptions;
  private readonly sessions = new Sessions();
  stopping = false;

  constructor(snapshot: Snapshot, registry: Registry, options: RunnerOptions) {
    this.options = options;
    this.ending = new Ending(options.observer, options.log);
    this.snapshot = snapshot;
    this.router = this.routerFor(snapshot, registry);
  }

  /** The new configuration serves from the next request on. Answers the old snapshot, now retiring. */
  swap(snapshot: Snapshot, registry: Registry): Snapshot {
    const old = this.snapshot;
    const router = this.routerFor(snapshot, registry);
    this.snapshot = snapshot;
    this.router = router;
    this.retire(old);
    return old;
  }

  private retire(snapshot: Snapshot): void {
    this.retiring.add(snapshot);
    void snapshot.done.then(() => this.retiring.delete(snapshot));
    snapshot.retire();
  }

  /** Requests that run, on whichever snapshot they began. */
  get running(): number {
    let sum = this.snapshot.active;
    for (const snapshot of this.retiring) if (snapshot !== this.snapshot) sum += snapshot.active;
    return sum;
  }

  /** New requests are told to go elsewhere; those that run go on, sessions to the end of their answer. */
  stop(): void {
    this.stopping = true;
    this.sessions.drain();
  }

  /** Ends the sessions that still run. */
  endSessions(): void {
    this.sessions.stop();
  }

  /** Resolves when the last request has ended, of the configurations before this one too. */
  async drained(): Promise<void> {
    this.retire(this.snapshot);
    await Promise.all([...this.retiring].map((snapshot) => snapshot.done));
  }

  handle(
    native: NativeResponse,
    head: NativeHead,
    method: string,
    path: string,
    query: string,
    upgrade: Upgrade | null = null,
  ): void {
    const reply = new Reply(native, nextRequestId());
    if (method === 'head') reply.bodiless = true;
    const routed = this.router.find(method, path);
    if (routed === null) {
      if (!this.options.other(reply, head, method, path, query)) this.answerUnrouted(reply, method, path);
      return;
    }
    const { compiled, operator } = routed.value;
    if (this.stopping) return this.refuse(reply, new GatewayError('shutting_down'), compiled.form);
    const headers: Record<string, string> = {};
    for (const name of compiled.headerNames) headers[name] = head.getHeader(name);
    reply.idHeader = compiled.form.requestIdHeader ?? null;
    const exchange = new LiveExchange(reply, this.snapshot, compiled, method, path, routed.parameter, query, headers);
    exchange.upgrade = upgrade;
    this.snapshot.enter();
    exchange.deadline = startDeadline(compiled.route.timeout, () => this.expire(exchange));
    exchange.onAbort(() => this.left(exchange));
    try {
      const checking = runHead(compiled.onHead, exchange);
      if (checking === undefined) exchange.owed = true;
      else this.watchHead(exchange, checking);
      this.begin(operator, exchange, native, checking);
    } catch (error) {
      this.ending.fail(exchange, error);
    }
  }

  /** What is wrong with the rest of the head is told only to those whose key was accepted. */
  private begin(
    operator: Operator,
    exchange: LiveExchange,
    native: NativeResponse,
    checking: Promise<void> | undefined,
  ): void {
    try {
      operator.begin(exchange, native, checking);
    } catch (error) {
      whenReady(exchange, checking, toGatewayError(error), this.ending, () => {});
    }
  }

  private watchHead(exchange: LiveExchange, checking: Promise<void>): void {
    checking.then(
      () => {
        exchange.owed = !exchange.settled;
      },
      (error: unknown) => this.ending.fail(exchange, error),
    );
  }

  private expire(exchange: LiveExchange): void {
    if (exchange.onExpire !== null) exchange.onExpire();
    else this.ending.fail(exchange, new GatewayError('upstream_timeout'));
  }

  /** The client left before the attempts began. */
  private left(exchange: LiveExchange): void {
    if (exchange.inCharge || exchange.settled) return;
    this.ending.leave(exchange, { kind: 'aborted', status: 499, code: null, usage: noUsage });
  }

  private refuse(reply: Reply, error: GatewayError, form: ReplyForm, headers: HeaderPairs = []): void {
    reply.idHeader = form.requestIdHeader ?? null;
    reply.send(error.status, 'application/json', JSON.stringify(form.encodeError(error, reply.requestId)), headers);
  }

  /** A path that no route has: 404 with a guess; or one that has other methods: they are told. */
  private answerUnrouted(reply: Reply, method: string, path: string): void {
    const methods = this.router.methodsOf(path);
    const form = nearestForm(this.snapshot.routes, path);
    if (methods.length === 0) return this.refuse(reply, this.unknownUrl(method, path), form);
    const verbs = verbsBeside(this.snapshot.routes, method, path);
    if (verbs.length > 0) return this.refuse(reply, unknownVerb(path, verbs), form);
    const allow = ['allow', [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ')];
    if (method === 'options') return reply.send(204, 'text/plain', '', allow);
    const sentence = `${shown(path)} does not support ${shown(method.toUpperCase())}; use ${methods.join(' or ')}.`;
    this.refuse(reply, new GatewayError('method_not_supported', sentence), form, allow);
  }

  private unknownUrl(method: string, path: string): GatewayError {
    const guess = suggestPath(path, (candidate) => this.router.methodsOf(candidate).length > 0);
    const hint = guess === null ? 'The base address ends in /v1.' : `Did you mean ${guess}?`;
    return new GatewayError('unknown_url', `Unknown route: ${shown(method.toUpperCase())} ${shown(path)}. ${hint}`);
  }

  private routerFor(snapshot: Snapshot, registry: Registry): Router<Entry> {
    const router = new Router<Entry>();
    const protocols = new Map(registry.protocols.map((protocol) => [protocol.name, protocol]));
    const parts = { ...this.options, ending: this.ending, sessions: this.sessions };
    for (const compiled of snapshot.routes) {
      router.add(compiled.route, {
        compiled,
        operator: operatorFor(compiled.route, protocols.get(compiled.route.protocol), parts),
      });
    }
    return router;
  }
}
