/** The request that a vendor of a direct route gets. */
import type { DirectCall } from '../../contract/direct.ts';
import type { UpstreamRequest } from '../../upstream/pools.ts';
import type { LiveExchange } from '../exchange.ts';
import type { Target } from '../target.ts';
import { headersWithType, postRequest } from '../upstream-request.ts';

export function directRequest(
  exchange: LiveExchange,
  call: DirectCall,
  target: Target,
  credential: number,
): UpstreamRequest {
  const { contentType, body } = target.direct!.request(exchange, call, target.vendorModel, target.overrides);
  return postRequest(target, target.paths.call!, headersWithType(target, credential, contentType), body);
}
