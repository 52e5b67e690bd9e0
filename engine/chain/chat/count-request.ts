/** The question for a count of tokens that a vendor gets. */
import type { ChatCall, ChatProtocol } from '../../contract/chat.ts';
import type { UpstreamRequest } from '../../upstream/pools.ts';
import { overridden } from '../../wire/overrides.ts';
import type { LiveExchange } from '../exchange.ts';
import type { Target } from '../target.ts';
import { headersFor, postRequest } from '../upstream-request.ts';
import { fitted } from './fit.ts';

function bodyFor(exchange: LiveExchange, call: ChatCall, client: ChatProtocol, target: Target): Buffer {
  const { vendor, codec } = target.count!;
  if (vendor === client) return vendor.relay.request(exchange.body, call, target.vendorModel, target.overrides);
  const { request } = fitted({ ...client.decodeRequest(call.body), model: call.model, stream: false }, vendor);
  const encoded = codec.encodeRequest(request, target.vendorModel);
  return overridden(Buffer.from(JSON.stringify(encoded)), target.overrides);
}

export function countRequest(
  exchange: LiveExchange,
  call: ChatCall,
  client: ChatProtocol,
  target: Target,
  credential: number,
): UpstreamRequest {
  const headers = headersFor(exchange, target, credential);
  return postRequest(target, target.paths.count!, headers, bodyFor(exchange, call, client, target));
}
