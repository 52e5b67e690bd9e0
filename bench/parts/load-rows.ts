import { type Bench, interleave, mid } from '../bench.ts';
import type { Load, LoadResult } from '../load.ts';
import { type Row, row } from '../results.ts';

interface Comparison {
  readonly what: string;
  readonly load: Omit<Load, 'seconds'>;
  /** What CPU is divided by besides requests. */
  readonly chunks?: number;
  readonly cpuGoal?: number;
  readonly nginx?: boolean;
}

/** The same load on the bare pass-through, the gateway and, where asked for, nginx: CPU and its ratios. */
export async function compare(bench: Bench, comparison: Comparison): Promise<Row[]> {
  return (await compareFully(bench, comparison)).rows;
}

export async function compareFully(bench: Bench, { what, load, chunks, cpuGoal, nginx }: Comparison) {
  const { bare, gateway } = bench;
  const third = nginx === true ? bench.nginx : null;
  const targets = third === null ? [bare, gateway] : [bare, gateway, third];
  const results = await interleave(
    bench,
    what,
    targets.map((target) => ({ target, load })),
  );
  const of = (figure: (one: LoadResult) => number) => {
    const [bare, gateway, nginx = null] = results.map((one) => mid(one, figure));
    return { bare: bare!, gateway: gateway!, nginx };
  };
  const cpu = of((one) => one.cpuPerRequest / (chunks ?? 1));
  const ratio = cpu.gateway / cpu.bare;
  const goal = cpuGoal === undefined ? {} : { goal: `≤ ${cpuGoal}`, met: ratio <= cpuGoal };
  const figure = chunks === undefined ? 'CPU µs / request' : 'CPU µs / chunk';
  return { of, cpu, rows: [row(what, figure, { ...cpu, ratio, ...goal })] };
}
