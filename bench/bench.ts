/** What all parts of a run share: the processes, how long to measure, and the one way of measuring load. */
import { type Load, type LoadResult, median, runLoad } from './load.ts';
import { type Measured, proxyCore, startProcess } from './processes.ts';

export interface Bench {
  readonly quick: boolean;
  readonly rounds: number;
  /** Of one round of load. */
  readonly seconds: number;
  readonly upstream: Measured;
  readonly bare: Measured;
  readonly gateway: Measured;
  /** Null where it is not installed. */
  readonly nginx: Measured | null;
}

/** One column of an interleaved measurement. */
interface Case {
  readonly target: Measured;
  readonly load: Omit<Load, 'seconds'>;
}

export const note = (text: string) => process.stderr.write(`${text}\n`);

/**
 * The cases in turn, as often as there are rounds, so that a noisy minute hits all of them. The round before them counts
 * for nothing: what V8 has not compiled yet is no measure of what runs for months.
 */
export async function interleave(bench: Bench, what: string, cases: readonly Case[]): Promise<LoadResult[][]> {
  const results: LoadResult[][] = cases.map(() => []);
  for (let round = 0; round <= bench.rounds; round++) {
    note(round === 0 ? `${what}: warming up` : `${what}: round ${round} of ${bench.rounds}`);
    for (const [index, { target, load }] of cases.entries()) {
      const result = await runLoad(target, { ...load, seconds: round === 0 ? bench.seconds / 2 : bench.seconds });
      if (result.failures > 0) note(`  ${target.name}: ${result.failures} failures, first: ${result.firstFailure}`);
      if (round > 0) results[index]!.push(result);
    }
  }
  return results;
}

export const mid = (results: readonly LoadResult[], figure: (one: LoadResult) => number) => median(results.map(figure));

/** A process of its own: what an earlier load left in a heap would hide what this one takes. */
export const startFresh = (bench: Bench, name: 'bare' | 'gateway'): Promise<Measured> =>
  startProcess(`${name}, fresh`, `./${name}.js`, [bench.upstream.url], proxyCore);

export const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A small chat request. */
export const chatBody = (extra: object = {}) =>
  JSON.stringify({
    model: 'demo-chat',
    messages: [{ role: 'user', content: 'A question of some words, as people ask them. '.repeat(8) }],
    ...extra,
  });

/** What the vendor sends for a stream of so many words: its beginning, the words, the end, the usage, the marker. */
export const framesOf = (words: number) => words + 4;

/** One word every `interval` ms. */
export const streamBody = (words: number, interval: number, extra: object = {}) =>
  chatBody({ stream: true, messages: [{ role: 'user', content: `[chunks=${words}] [delay=${interval}]` }], ...extra });
