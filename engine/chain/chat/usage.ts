/** What a chat answer used: what the vendor reported, else what the gateway counted. */
import type { StreamTap } from '../../contract/chat.ts';
import type { Call } from '../../contract/exchange.ts';
import { plainTokens, type TokenUsage, type Usage, usageOf } from '../../contract/usage.ts';
import { askedTokens } from '../../wire/asked-tokens.ts';

/** What was asked: the body as it came, and as it was read. */
interface Asked {
  readonly body: Buffer;
  readonly call: Call | null;
}

/** `said` output tokens as the gateway counts them: for where nothing is reported. */
export function chatUsage(reported: TokenUsage | null, images: number, said: number, asked: Asked): Usage {
  if (reported !== null) return usageOf(reported, images, 'measured');
  const { body, call } = asked;
  const input = askedTokens(body.length, call?.kind === 'chat' ? call.body : {});
  return usageOf(plainTokens(input, said), images, 'estimated');
}

/** Of a stream so far. */
export function streamUsage(tap: StreamTap, asked: Asked): Usage {
  return chatUsage(tap.usage, tap.images ?? 0, tap.estimatedOutput, asked);
}
