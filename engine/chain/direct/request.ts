/** The request that a vendor of a direct route gets. */
import type { DirectCall } from '../../contract/direct.ts';
import type { UpstreamRequest } from '../../upstream/pools.ts';
import type { LiveExchange } from '../exchange.ts';
import type { Target } from '../target.ts';

export function directRequest(
  exchange: LiveExchange,
  call: DirectCall,
  target: Target,
  credential: number,
): UpstreamRequest {
  const { timeouts } = target.channel;
  const { contentType, body } = target.direct!.request(exchange, call, target.vendorModel, target.overrides);
  return {
    method: 'POST',
    path: target.paths.call!,
    headers: [...target.headers[credential]!, 'content-type', contentType],
    body,
    firstByteTimeout: timeouts.firstByte,
    idleTimeout: timeouts.idle,
  };
}
