/** Counting the tokens of a conversation: by a vendor that counts, else by an estimate. Free of charge. */
import type { ChatCall, ChatProtocol } from '../../contract/chat.ts';
import { noUsage } from '../../contract/usage.ts';
import type { JsonObject, Log } from '../../contract/values.ts';
import { GatewayError, toGatewayError } from '../../errors.ts';
import { Answer } from '../../upstream/answer.ts';
import { malformed, vendorFailure } from '../../upstream/failure.ts';
import { retryAfterSeconds } from '../../upstream/headers.ts';
import { parsedJson } from '../../wire/parse-json.ts';
import { AttemptFailed, asFailure } from '../attempt-failure.ts';
import { Attempts, type Try } from '../attempts.ts';
import type { Ending } from '../ending.ts';
import type { LiveExchange } from '../exchange.ts';
import { proceed } from '../flow.ts';
import type { Operator } from '../operator.ts';
import { jsonBody } from '../request-body.ts';
import { resolveOffer } from '../resolve.ts';
import { countRequest } from './count-request.ts';

const largestAnswer = 256 * 1024;

export function countOperator(protocol: ChatProtocol, receiveTimeout: number, ending: Ending, log: Log): Operator {
  const count = protocol.count!;
  const go = (exchange: LiveExchange) => {
    new Counting(exchange, exchange.call as ChatCall, protocol, log).run().then(
      (tokens) => {
        const body = Buffer.from(JSON.stringify(count.encodeReply(tokens)));
        ending.sendWhole(exchange, { kind: 'ok', status: 200, code: null, usage: noUsage }, body);
      },
      (error: unknown) => ending.fail(exchange, error),
    );
  };
  const accept = (exchange: LiveExchange, body: JsonObject) => {
    const call = count.readCall(body, exchange);
    exchange.call = call;
    exchange.offer = resolveOffer(exchange, call.model);
    proceed(exchange, ending, go);
  };
  return { begin: jsonBody(receiveTimeout, ending, accept) };
}

class Counting {
  private readonly exchange: LiveExchange;
  private readonly call: ChatCall;
  private readonly client: ChatProtocol;
  private readonly attempts: Attempts;
  private answer: Answer | null = null;
  private stopped: GatewayError | null = null;

  constructor(exchange: LiveExchange, call: ChatCall, client: ChatProtocol, log: Log) {
    this.exchange = exchange;
    this.call = call;
    this.client = client;
    this.attempts = new Attempts(exchange, exchange.offer!, exchange.route.failover, log);
    exchange.onAbort(() => this.stop(new GatewayError('internal_error', 'The client left.')));
    exchange.onExpire = () => this.stop(new GatewayError('upstream_timeout'));
  }

  private stop(error: GatewayError): void {
    this.stopped ??= error;
    this.answer?.abort();
  }

  /** A vendor's count, or an estimate where none can be had. Throws what the vendor has against the request itself. */
  async run(): Promise<number> {
    for (;;) {
      const next = this.attempts.next();
      if (next instanceof GatewayError) return this.estimate();
      try {
        const tokens = await this.ask(next);
        this.attempts.succeeded(next, 200);
        return tokens;
      } catch (thrown) {
        const failure = asFailure(thrown);
        if (failure === null || this.stopped !== null) {
          this.attempts.abandoned(next);
          throw this.stopped ?? toGatewayError(thrown);
        }
        if (this.attempts.failedWith(next, failure)) continue;
        if (failure.error.status < 500) throw failure.error;
        return this.estimate();
      }
    }
  }

  private async ask({ target, credential }: Try): Promise<number> {
    const request = countRequest(this.exchange, this.call, this.client, target, credential);
    this.answer = Answer.send(target.connections, request);
    const { status, headers } = await this.answer.head;
    const body = await this.answer.read(largestAnswer);
    const { vendor, codec } = target.count!;
    const value = parsedJson(body);
    const reported = value === undefined ? null : vendor.decodeError(value);
    if (status >= 300 || reported !== null) {
      const wait = retryAfterSeconds(headers, Date.now());
      throw new AttemptFailed(vendorFailure(target.channel.vendor, status, reported, wait));
    }
    const tokens = value === undefined ? null : codec.decodeReply(value);
    if (tokens === null) throw new AttemptFailed(malformed('the answer holds no count', status));
    return tokens;
  }

  /** Four bytes are about one token. */
  private estimate(): number {
    return this.client.count?.estimate?.(this.call.body) ?? Math.ceil(this.exchange.body.length / 4);
  }
}
