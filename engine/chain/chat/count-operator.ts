/** Counting the tokens of a conversation: by a vendor that counts, else by an estimate. Free of charge. */
import type { ChatCall, ChatProtocol } from '../../contract/chat.ts';
import { noUsage } from '../../contract/usage.ts';
import type { JsonObject, Log } from '../../contract/values.ts';
import { GatewayError } from '../../errors.ts';
import { Answer } from '../../upstream/answer.ts';
import { malformed } from '../../upstream/failure.ts';
import { estimateTokens } from '../../wire/estimate-tokens.ts';
import { AttemptFailed, jsonAnswer } from '../attempt-failure.ts';
import { Attempts, type Try } from '../attempts.ts';
import type { Ending } from '../ending.ts';
import type { LiveExchange } from '../exchange.ts';
import { proceed } from '../flow.ts';
import type { Operator } from '../operator.ts';
import { jsonBody } from '../request-body.ts';
import { resolveOffer } from '../resolve.ts';
import { tryChannels } from '../try-channels.ts';
import { countRequest } from './count-request.ts';

/** Of compatible vendors that know no such path. */
const cannotCount: ReadonlySet<number> = new Set([404, 405]);

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
    // Vendors limit counts apart from answers, and counts are free: whoever asks too often must not stop the answers.
    this.attempts = new Attempts(exchange, exchange.offer!, exchange.route.failover, log, false);
    exchange.onAbort(() => this.stop(new GatewayError('internal_error', 'The client left.')));
    exchange.onExpire = () => this.stop(new GatewayError('upstream_timeout'));
  }

  private stop(error: GatewayError): void {
    this.stopped ??= error;
    this.answer?.abort();
  }

  /** A vendor's count, or an estimate where none can be had. Throws what the vendor has against the request itself. */
  run(): Promise<number> {
    return tryChannels(this.attempts, {
      attempt: async (tried) => {
        const tokens = await this.ask(tried);
        this.attempts.succeeded(tried, this.answer!.status);
        return tokens;
      },
      giveUp: () => this.answer?.abort(),
      stopped: () => this.stopped,
      begun: () => false,
      instead: (error, last) => {
        if (last !== null && error.status < 500 && !cannotCount.has(last.status)) throw error;
        return estimateTokens(this.call.body);
      },
    });
  }

  private async ask({ target, credential }: Try): Promise<number> {
    const request = countRequest(this.exchange, this.call, this.client, target, credential);
    this.answer = Answer.send(target.connections, request);
    const { vendor, codec } = target.count!;
    const value = await jsonAnswer(this.answer, largestAnswer, target.channel.vendor, vendor.decodeError);
    const tokens = codec.decodeReply(value);
    if (tokens === null) throw new AttemptFailed(malformed('the answer holds no count', this.answer.status));
    return tokens;
  }
}
