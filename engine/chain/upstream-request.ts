/** The request that a vendor gets: what the attempts send and `gateway explain` shows. */
import type { ChatCall } from '../contract/chat.ts';
import type { ImageCall } from '../contract/image.ts';
import type { UpstreamRequest } from '../upstream/pools.ts';
import { overridden } from './bridge.ts';
import type { LiveExchange } from './exchange.ts';
import type { Target } from './target.ts';

export function chatRequest(
  exchange: LiveExchange,
  call: ChatCall,
  target: Target,
  credential: number,
): UpstreamRequest {
  const { timeouts } = target.channel;
  return {
    method: 'POST',
    path: call.stream ? target.paths.stream! : target.paths.whole!,
    headers: target.headers[credential]!,
    body: target.bridge!.request(exchange, call, target.vendorModel, target.overrides),
    firstByteTimeout: timeouts.firstByte,
    idleTimeout: timeouts.idle,
  };
}

export function imageRequest(call: ImageCall, target: Target, credential: number): UpstreamRequest {
  const { timeouts } = target.channel;
  const upstream = target.images!.encodeRequest(call, target.vendorModel);
  const body = upstream.pieces.length === 1 ? upstream.pieces[0]! : Buffer.concat(upstream.pieces);
  const isJson = upstream.contentType === 'application/json';
  return {
    method: 'POST',
    path: target.paths[call.operation]!,
    headers: [...target.headers[credential]!, 'content-type', upstream.contentType],
    body: isJson ? overridden(body, target.overrides) : body,
    firstByteTimeout: timeouts.firstByte,
    idleTimeout: timeouts.idle,
  };
}
