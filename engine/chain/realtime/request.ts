/** What a realtime session asks for: the call, and the handshake that a vendor gets. */
import type { Model } from '../../contract/model.ts';
import type { RealtimeCall, RealtimeProtocol } from '../../contract/realtime.ts';
import { noUsage } from '../../contract/usage.ts';
import type { LiveExchange } from '../exchange.ts';
import type { Target } from '../target.ts';
import { checkPassed } from '../upstream-request.ts';

/** Tokens to hold for where nothing bounds an answer; no vendor's answer is longer. */
const assumedTokens = 4096;

/** Held for: the next answer, as much heard as said, all of it as sound, which costs most. */
export function realtimeCall({ name, maxOutputTokens }: Model): RealtimeCall {
  const output = maxOutputTokens ?? assumedTokens;
  const bound = { ...noUsage, input: assumedTokens, audioInput: assumedTokens, output, audioOutput: output };
  return { kind: 'realtime', model: name, stream: true, bound };
}

/** `headers`: name, value, name, value. Throws GatewayError. */
export function handshake(
  exchange: LiveExchange,
  vendor: NonNullable<RealtimeProtocol['vendor']>,
  { channel, paths, headers }: Target,
  credential: number,
): { readonly url: string; readonly headers: readonly string[] } {
  const passed = Object.entries(vendor.headersFor(exchange.headers));
  for (const [name, value] of passed) checkPassed(name, value);
  return {
    url: channel.origin.replace(/^http/, 'ws') + paths.connect!,
    headers: [...passed.flat(), ...headers[credential]!],
  };
}
