/** What is asked for, read as the operator of its route reads it: the exchange gets its call and its offer. */
import { drawnCall, drawnOn } from '../../chain/chat/drawn-call.ts';
import type { LiveExchange } from '../../chain/exchange.ts';
import { realtimeCall } from '../../chain/realtime/request.ts';
import { resolveOffer } from '../../chain/resolve.ts';
import type { ChatProtocol } from '../../contract/chat.ts';
import type { Call } from '../../contract/exchange.ts';
import type { ImageBody } from '../../contract/image.ts';
import type { JsonObject } from '../../contract/values.ts';
import type { Protocol } from '../../plugin.ts';
import { uploadForm } from './asked.ts';

/** The body as JSON, and the form that an image edit sends in its place. */
export interface Asked {
  readonly body: JsonObject;
  readonly form: ImageBody | null;
}

function take(exchange: LiveExchange, call: Exclude<Call, { readonly kind: 'realtime' }>): void {
  exchange.call = call;
  exchange.offer = resolveOffer(exchange, call.model);
}

function readChat(exchange: LiveExchange, protocol: ChatProtocol, { body }: Asked): void {
  if (exchange.route.operation === 'chat.count') return take(exchange, protocol.count!.readCall(body, exchange));
  const call = protocol.readCall(body, exchange);
  exchange.call = call;
  exchange.offer = resolveOffer(exchange, call.model, drawnOn(protocol, exchange.compiled));
  exchange.call = drawnCall(protocol, call, exchange.offer) ?? call;
}

/** Throws GatewayError for what a client would be refused. */
export function readCall(exchange: LiveExchange, protocol: Protocol, asked: Asked): void {
  const { body, form } = asked;
  const json = { kind: 'json', value: body } as const;
  if (protocol.kind === 'chat') return readChat(exchange, protocol, asked);
  if (protocol.kind === 'video') return take(exchange, protocol.client!.readCall(json));
  if (protocol.kind === 'image') {
    const operation = exchange.route.operation === 'images.edit' ? 'edit' : 'generate';
    return take(exchange, protocol.client!.readCall(operation, form ?? json));
  }
  if (protocol.kind === 'direct') {
    const { accepts, readCall } = protocol.client!;
    return take(exchange, readCall(body, accepts === 'form' ? uploadForm(body) : null));
  }
  exchange.offer = resolveOffer(exchange, protocol.client!.readModel(exchange));
  exchange.call = realtimeCall(exchange.offer.model);
}
