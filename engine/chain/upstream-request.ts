/** The request that a vendor gets: what the attempts send and `gateway explain` shows. */
import type { ChatCall, ParameterOverrides } from '../contract/chat.ts';
import type { ImageCall, Pieces, UpstreamBody } from '../contract/image.ts';
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

/** Up to here one write of joined bytes is cheaper than several. */
const smallBody = 64 * 1024;

/** Reference images are not copied once more: a large body stays in its pieces. */
function imageBody({ contentType, pieces }: UpstreamBody, overrides: ParameterOverrides | null) {
  if (overrides !== null && contentType === 'application/json') return overridden(Buffer.concat(pieces), overrides);
  return lengthOf(pieces) <= smallBody ? Buffer.concat(pieces) : pieces;
}

const lengthOf = (body: Buffer | Pieces): number =>
  Buffer.isBuffer(body) ? body.length : body.reduce((sum, piece) => sum + piece.length, 0);

export function imageRequest(call: ImageCall, target: Target, credential: number): UpstreamRequest {
  const { timeouts } = target.channel;
  const encoded = target.images!.encodeRequest(call, target.vendorModel);
  const body = imageBody(encoded, target.overrides);
  const own = ['content-type', encoded.contentType, 'content-length', String(lengthOf(body))];
  return {
    method: 'POST',
    path: target.paths[call.operation]!,
    headers: [...target.headers[credential]!, ...own],
    body,
    firstByteTimeout: timeouts.firstByte,
    idleTimeout: timeouts.idle,
  };
}
