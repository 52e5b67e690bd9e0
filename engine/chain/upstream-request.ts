/** The request that a vendor gets: what the attempts send and `gateway explain` shows. */
import type { ChatCall } from '../contract/chat.ts';
import type { ImageCall, UpstreamBody } from '../contract/image.ts';
import type { ParameterOverrides } from '../contract/wire.ts';
import { GatewayError } from '../errors.ts';
import type { UpstreamRequest } from '../upstream/pools.ts';
import { overridden } from '../wire/overrides.ts';
import type { LiveExchange } from './exchange.ts';
import type { Target } from './target.ts';

/** A client's header that no vendor may get is no fault of a vendor's. Throws GatewayError. */
export function checkPassed(name: string, value: string): void {
  if (value.includes('\x7f')) throw new GatewayError('invalid_value', `The header ${name} holds a control character.`);
}

/** The target's headers, with those of the client's that its vendor understands laid over them. */
export function headersFor(exchange: LiveExchange, target: Target, credential: number): readonly string[] {
  const own = target.headers[credential]!;
  if (target.passedHeaders.length === 0) return own;
  const passed = target.passedHeaders.filter((name) => exchange.headers[name]);
  if (passed.length === 0) return own;
  for (const name of passed) checkPassed(name, exchange.headers[name]!);
  const kept: string[] = [];
  for (let index = 0; index < own.length; index += 2)
    if (!passed.includes(own[index]!)) kept.push(own[index]!, own[index + 1]!);
  for (const name of passed) kept.push(name, exchange.headers[name]!);
  return kept;
}

/** The target's headers for a body that says what it is. */
export const headersWithType = (target: Target, credential: number, contentType: string): readonly string[] => [
  ...target.headers[credential]!,
  'content-type',
  contentType,
];

/** What is sent to a channel, with the patience that it asks for. */
export function postRequest(
  { channel: { timeouts } }: Target,
  path: string,
  headers: readonly string[],
  body: UpstreamRequest['body'],
): UpstreamRequest {
  return {
    method: 'POST',
    path,
    headers,
    body,
    firstByteTimeout: timeouts.firstByte,
    idleTimeout: timeouts.idle,
  };
}

export function chatRequest(
  exchange: LiveExchange,
  call: ChatCall,
  target: Target,
  credential: number,
): UpstreamRequest {
  const path = call.stream ? target.paths.stream! : target.paths.whole!;
  const headers = headersFor(exchange, target, credential);
  const body = target.bridge!.request(exchange, call, target.vendorModel, target.overrides);
  return postRequest(target, path, headers, body);
}

/** Up to here one write of joined bytes is cheaper than several. */
const smallBody = 64 * 1024;

/** Reference images are not copied once more: a large body stays in its pieces. */
function imageBody({ contentType, pieces }: UpstreamBody, overrides: ParameterOverrides | null) {
  if (overrides !== null && contentType === 'application/json') return overridden(Buffer.concat(pieces), overrides);
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return length <= smallBody ? Buffer.concat(pieces, length) : pieces;
}

export function imageRequest(call: ImageCall, target: Target, credential: number): UpstreamRequest {
  const encoded = target.images!.encodeRequest(call, target.vendorModel, target.overrides);
  const headers = headersWithType(target, credential, encoded.contentType);
  return postRequest(target, target.paths[call.operation]!, headers, imageBody(encoded, target.overrides));
}
