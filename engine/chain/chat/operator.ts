/** Chat-like routes: body → call → offer → hooks → attempts. */
import type { ChatCall, ChatProtocol } from '../../contract/chat.ts';
import type { ImageCall } from '../../contract/image.ts';
import type { Responses } from '../../contract/responses.ts';
import type { JsonObject } from '../../contract/values.ts';
import { eventStream } from '../../wire/sse.ts';
import type { LiveExchange } from '../exchange.ts';
import { proceed } from '../flow.ts';
import { ImageRun, type ImageRunParts } from '../image/run.ts';
import type { Operator } from '../operator.ts';
import { jsonBody } from '../request-body.ts';
import { resolveOffer } from '../resolve.ts';
import { Conversations } from '../responses/state.ts';
import { ChatAttempts } from './attempt.ts';
import { drawnCall, drawnOn } from './drawn-call.ts';

export interface ChatOperatorParts extends Omit<ImageRunParts, 'writer'> {
  readonly responses: Responses;
}

export function chatOperator(protocol: ChatProtocol, receiveTimeout: number, parts: ChatOperatorParts): Operator {
  const { ending, log } = parts;
  const { images, state } = protocol;
  const conversations = state === undefined ? null : new Conversations(protocol, state, parts.responses, log);
  const contentType = (call: ChatCall) => protocol.streamContentType?.(call) ?? eventStream;
  const chat = (exchange: LiveExchange) => {
    const call = exchange.call as ChatCall;
    const attempts = new ChatAttempts(exchange, call, contentType(call), ending, log);
    exchange.onExpire = () => attempts.expire();
    attempts.start();
  };
  const accept = (exchange: LiveExchange, body: JsonObject) => {
    const call = protocol.readCall(body, exchange);
    exchange.call = call;
    exchange.offer = resolveOffer(exchange, call.model, drawnOn(protocol, exchange.compiled));
    const prepared = conversations === null ? call : conversations.prepare(exchange, call);
    if (!(prepared instanceof Promise)) return begin(exchange, prepared);
    prepared
      .then((whole) => {
        if (!exchange.settled) begin(exchange, whole);
      })
      .catch((error: unknown) => ending.fail(exchange, error));
  };
  const begin = (exchange: LiveExchange, call: ChatCall) => {
    exchange.call = call;
    const drawn = drawnCall(protocol, call, exchange.offer!);
    if (drawn === null) return proceed(exchange, ending, chat);
    exchange.call = drawn;
    proceed(exchange, ending, () => draw(exchange, drawn, call));
  };
  const draw = (exchange: LiveExchange, drawn: ImageCall, call: ChatCall) => {
    // `run` ends the exchange whatever happens; nothing is left to catch.
    void new ImageRun(exchange, drawn, { ...parts, writer: images!.writer(call) }).run();
  };
  return { begin: jsonBody(receiveTimeout, ending, accept) };
}
