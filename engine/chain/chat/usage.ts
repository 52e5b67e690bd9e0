/** What a chat answer used: what the vendor reported, else what the gateway counted. */
import type { StreamTap } from '../../contract/chat.ts';
import { noUsage, type TokenUsage, type Usage } from '../../contract/usage.ts';

/** `said` output tokens as the gateway counts them, `asked` bytes of the request: for where nothing is reported. */
export function chatUsage(reported: TokenUsage | null, images: number, said: number, asked: number): Usage {
  // Written out: spreading two objects costs more than the rest of a settlement.
  const { input, cachedInput, cacheWrite, output, reasoning } = reported ?? estimated(said, asked);
  const source = reported === null ? 'estimated' : 'measured';
  return {
    input,
    cachedInput,
    cacheWrite,
    output,
    reasoning,
    images,
    seconds: 0,
    characters: 0,
    searchUnits: 0,
    audioInput: 0,
    audioOutput: 0,
    source,
  };
}

/** Four bytes are about one token. */
const estimated = (output: number, asked: number): TokenUsage => ({ ...noUsage, input: Math.ceil(asked / 4), output });

/** Of a stream so far. */
export function streamUsage(tap: StreamTap, asked: number): Usage {
  return chatUsage(tap.usage, tap.images ?? 0, tap.estimatedOutput, asked);
}
