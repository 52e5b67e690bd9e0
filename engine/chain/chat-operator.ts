/** Chat-like routes: body → call → offer → hooks → attempts. */
import type { ChatProtocol } from '../contract/chat.ts';
import type { Log } from '../contract/values.ts';
import { readBody } from '../http/body.ts';
import { parseObject, requireJson } from '../http/json-body.ts';
import type { NativeResponse } from '../http/reply.ts';
import { ChatAttempts } from './chat-attempt.ts';
import type { Ending } from './ending.ts';
import type { LiveExchange } from './exchange.ts';
import { proceed, whenReady } from './flow.ts';
import type { Operator } from './operator.ts';
import { resolveOffer } from './resolve.ts';

export function chatOperator(protocol: ChatProtocol, receiveTimeout: number, ending: Ending, log: Log): Operator {
  const go = (exchange: LiveExchange) => {
    const attempts = new ChatAttempts(exchange, exchange.call as ReturnType<ChatProtocol['readCall']>, ending, log);
    exchange.onExpire = () => attempts.expire();
    attempts.start();
  };
  const accept = (exchange: LiveExchange) => {
    const call = protocol.readCall(parseObject(exchange.body));
    exchange.call = call;
    exchange.offer = resolveOffer(exchange, exchange.snapshot.models, call.model);
    proceed(exchange, ending, go);
  };
  return {
    begin(exchange: LiveExchange, native: NativeResponse, ready: Promise<void> | undefined) {
      requireJson(exchange.headers['content-type'] ?? '');
      readBody(native, exchange, exchange.route.bodyLimit, receiveTimeout, (error, body) => {
        exchange.body = body;
        whenReady(exchange, ready, error, ending, accept);
      });
    },
  };
}
