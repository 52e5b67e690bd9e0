import { noUsage, type TokenUsage, type Usage } from '../../contract/usage.ts';

/** What one request has got so far: that is what it pays for. */
export class ImageTally {
  images = 0;
  private tokens: TokenUsage | null = null;

  addTokens(usage: TokenUsage | null): void {
    if (usage !== null) this.tokens = this.tokens === null ? usage : sumOf(this.tokens, usage);
  }

  get usage(): Usage {
    return { ...noUsage, ...this.tokens, images: this.images, source: 'measured' };
  }
}

const sumOf = (one: TokenUsage, other: TokenUsage): TokenUsage => ({
  input: one.input + other.input,
  cachedInput: one.cachedInput + other.cachedInput,
  cacheWrite: one.cacheWrite + other.cacheWrite,
  output: one.output + other.output,
  reasoning: one.reasoning + other.reasoning,
});
