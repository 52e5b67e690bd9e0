/** What a direct request used: what its vendor told, and the gateway's own count for what is priced and was not told. */
import type { Counts } from '../../contract/direct.ts';
import type { Price } from '../../contract/model.ts';
import { noUsage, type Usage } from '../../contract/usage.ts';

/** Which counts a price is put on. */
const countsOf: Readonly<Record<keyof Price, readonly (keyof Counts)[]>> = {
  image: ['images'],
  request: [],
  second: ['seconds'],
  character: ['characters'],
  searchUnit: ['searchUnits'],
  input: ['input', 'audioInput'],
  cachedInput: ['input'],
  cacheWrite: ['input'],
  output: ['output', 'audioOutput'],
  reasoning: ['output'],
  audioInput: ['input', 'audioInput'],
  audioOutput: ['output', 'audioOutput'],
};

const isCounted = (counts: Counts): boolean => Object.values(counts).some((count) => count > 0);

/** To the millisecond: what is added up later stays what it was. */
const rounded = (seconds: number): number => Math.round(seconds * 1000) / 1000;

/** `estimated` says all there is to count, `told` what the vendor said of it. */
export function usageOf(told: Counts, estimated: Counts, price: Price): Usage {
  const usage: { -readonly [Name in keyof Usage]: Usage[Name] } = { ...noUsage, ...told };
  for (const kind of Object.keys(price) as (keyof Price)[]) {
    const [main, ...parts] = countsOf[kind];
    if (main === undefined || told[main] !== undefined) continue;
    for (const count of [main, ...parts]) usage[count] = estimated[count] ?? 0;
    usage.source = 'estimated';
  }
  // Where nothing is priced by what was told, something must still say that there was an answer.
  if (!isCounted(told) && usage.source === 'measured') Object.assign(usage, estimated, { source: 'estimated' });
  usage.seconds = rounded(usage.seconds);
  return usage;
}
