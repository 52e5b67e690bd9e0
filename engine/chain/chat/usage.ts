/** What a chat answer used: what the vendor reported, else what the gateway counted. */
import type { StreamTap } from '../../contract/chat.ts';
import { plainTokens, type TokenUsage, type Usage, usageOf } from '../../contract/usage.ts';

/** `said` output tokens as the gateway counts them, `asked` bytes of the request: for where nothing is reported. */
export function chatUsage(reported: TokenUsage | null, images: number, said: number, asked: number): Usage {
  if (reported !== null) return usageOf(reported, images, 'measured');
  // Four bytes are about one token.
  return usageOf(plainTokens(Math.ceil(asked / 4), said), images, 'estimated');
}

/** Of a stream so far. */
export function streamUsage(tap: StreamTap, asked: number): Usage {
  return chatUsage(tap.usage, tap.images ?? 0, tap.estimatedOutput, asked);
}
