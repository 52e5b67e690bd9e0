/**
 * What a prompt may ask of the simulator in brackets, so that tests and benches steer an answer without a fault:
 * `[chunks=100]` pieces of text, `[delay=20]` ms between events, `[tokens=50]` output tokens, `[cached=10]` cached
 * input tokens, `[reasoning=32]` hidden output tokens, `[redacted=1]` redacted blocks of them, `[calls=2]` tool calls,
 * `[rounds=3]` turns of tool calls before the answer, `[bytes=1000000]` size of an image or video, `[polls=3]` the
 * poll that finds a video done.
 */
export interface Steering {
  readonly chunks: number;
  readonly delay: number;
  readonly tokens?: number;
  readonly cached: number;
  readonly reasoning: number;
  readonly redacted: number;
  readonly calls: number;
  readonly rounds: number;
  readonly bytes?: number;
  readonly polls: number;
}

const LIMITS: Record<string, number> = {
  chunks: 100_000,
  delay: 600_000,
  tokens: 1_000_000,
  cached: 1_000_000_000,
  reasoning: 1_000_000_000,
  redacted: 8,
  calls: 32,
  rounds: 32,
  bytes: 64_000_000,
  polls: 1000,
};

const DEFAULTS: Steering = { chunks: 8, delay: 0, cached: 0, reasoning: 0, redacted: 0, calls: 1, rounds: 1, polls: 2 };
const PATTERN = /\[([a-z]+)=(\d+)\]/g;

export function readSteering(prompt: string): Steering {
  if (!prompt.includes('[')) return DEFAULTS;
  const asked: Record<string, number> = {};
  for (const [, name, value] of prompt.matchAll(PATTERN)) {
    const limit = LIMITS[name!];
    if (limit !== undefined) asked[name!] = Math.min(Number(value), limit);
  }
  return { ...DEFAULTS, ...asked };
}

/** The prompt without what steers. */
export function withoutSteering(prompt: string): string {
  return prompt.replace(PATTERN, (whole, name: string) => (name in LIMITS ? '' : whole)).trim();
}
