/** How every request ends: settled first, then the last byte. */
import { noUsage, type Outcome, type Usage } from '../contract/usage.ts';
import type { Log } from '../contract/values.ts';
import { GatewayError, toGatewayError } from '../errors.ts';
import type { HeaderPairs } from '../http/reply.ts';
import type { LocalReply } from '../plugin.ts';
import { isDeeper } from '../wire/json-size.ts';
import type { LiveExchange } from './exchange.ts';
import { type Observer, settle } from './settle.ts';

const json = 'application/json';

/** Operators' plugins are JavaScript: what they answer was seen by no compiler. */
function isAnswer(local: LocalReply | null): boolean {
  if (local === null) return false;
  const { status, body } = local;
  return (
    Number.isInteger(status) && status >= 200 && status <= 599 && (typeof body === 'string' || Buffer.isBuffer(body))
  );
}

/** What can be read may still be too deep to be walked through and written again. */
const deepest = 500;

/** The client's own doing, where a body of far too many levels has exhausted the stack. */
function tooDeep({ body }: LiveExchange, thrown: unknown): GatewayError | null {
  if (!(thrown instanceof RangeError) || !isDeeper(body, deepest)) return null;
  return new GatewayError('invalid_value', `The body is nested more than ${deepest} levels deep.`);
}

export class Ending {
  readonly observer: Observer;
  private readonly log: Log;

  constructor(observer: Observer, log: Log) {
    this.observer = observer;
    this.log = log;
  }

  /** A whole answer. */
  sendWhole(exchange: LiveExchange, outcome: Outcome, body: Buffer, contentType = json): void {
    const { reply } = exchange;
    reply.capture?.head(200, contentType);
    reply.capture?.data(body);
    reply.capture?.end();
    this.afterSettling(exchange, outcome, () => reply.send(200, contentType, body));
  }

  /** A whole answer in pieces that are never joined. */
  sendPieces(exchange: LiveExchange, outcome: Outcome, pieces: readonly Buffer[]): void {
    const { reply } = exchange;
    reply.capture?.head(200, json);
    for (const piece of pieces) reply.capture?.data(piece);
    reply.capture?.end();
    this.afterSettling(exchange, outcome, () => {
      reply.stage(200, json);
      reply.sendPieces(pieces);
    });
  }

  /** The end of a stream of which all was written but `closing`, whether or not a client was there to read it. */
  complete(exchange: LiveExchange, outcome: Outcome, closing: Buffer): void {
    const { capture } = exchange.reply;
    if (closing.length > 0) capture?.data(closing);
    capture?.end();
    this.afterSettling(exchange, outcome, () => exchange.reply.end(closing.length === 0 ? undefined : closing));
  }

  /** The end of an exchange whose client has gone. */
  leave(exchange: LiveExchange, outcome: Outcome): void {
    this.afterSettling(exchange, outcome, () => exchange.reply.end());
  }

  /** An answer that no vendor gave: a replay, the model list. */
  sendLocal(exchange: LiveExchange, local: LocalReply): void {
    if (!isAnswer(local))
      return this.fail(exchange, new TypeError(`a plugin answered ${typeof local} instead of status and body`));
    const { 'content-type': contentType = json, ...rest } = local.headers ?? {};
    const outcome: Outcome = {
      kind: local.status < 400 ? 'ok' : 'error',
      status: local.status,
      code: null,
      usage: noUsage,
    };
    this.afterSettling(exchange, outcome, () =>
      exchange.reply.send(local.status, contentType, local.body, Object.entries(rest).flat()),
    );
  }

  /** A failure; `usage` is what the client got of a stream before it broke. */
  fail(exchange: LiveExchange, thrown: unknown, usage: Usage = noUsage): void {
    const error = toGatewayError(tooDeep(exchange, thrown) ?? thrown);
    if (error.code === 'internal_error' && error.cause !== undefined)
      this.log.error({ err: error.cause, requestId: exchange.id }, 'a request failed inside the gateway');
    const outcome: Outcome = exchange.aborted
      ? { kind: 'aborted', status: 499, code: error.code, usage }
      : { kind: 'error', status: exchange.reply.begun ? exchange.reply.status : error.status, code: error.code, usage };
    this.afterSettling(exchange, outcome, () => this.sendError(exchange, error));
  }

  /** The last byte waits for the settlement; where that fails, the client must not take the answer for a paid one. */
  private afterSettling(exchange: LiveExchange, outcome: Outcome, send: () => void): void {
    // Whoever ended it first sends the answer.
    if (exchange.settled) return;
    settle(exchange, outcome, this.observer, this.log, (refusal) =>
      refusal === null ? send() : this.sendError(exchange, refusal),
    );
  }

  private sendError(exchange: LiveExchange, error: GatewayError): void {
    const { reply, compiled } = exchange;
    if (reply.begun) {
      // Bytes that are no events have no words for an error.
      if (exchange.encodeStreamError === null) return reply.cut();
      return reply.end(exchange.encodeStreamError(error, exchange.id));
    }
    const retry: HeaderPairs = error.retryAfter === null ? [] : ['retry-after', String(error.retryAfter)];
    reply.send(error.status, json, JSON.stringify(compiled.form.encodeError(error, exchange.id, exchange)), retry);
  }
}
