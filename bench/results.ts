/** The table of a run as Markdown. */
import { cpus, release } from 'node:os';

export interface Row {
  readonly what: string;
  readonly figure: string;
  readonly bare: number | null;
  readonly gateway: number | null;
  readonly nginx: number | null;
  readonly ratio: number | null;
  readonly goal: string;
  readonly met: boolean | null;
}

/** A row of the given figures; what is not told stays empty. */
export function row(what: string, figure: string, told: Partial<Omit<Row, 'what' | 'figure'>>): Row {
  return { what, figure, bare: null, gateway: null, nginx: null, ratio: null, goal: '', met: null, ...told };
}

/** The full chain grows by one step at a time: the differences are the prices of the stages. */
export interface Stage {
  readonly chain: string;
  readonly cpu: number;
}

interface Conditions {
  readonly rounds: number;
  readonly seconds: number;
  readonly nginx: boolean;
}

function shown(value: number | null): string {
  if (value === null) return '';
  if (value >= 1000) return Math.round(value).toString();
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

const verdict = (met: boolean | null) => (met === null ? '' : met ? 'met' : '**missed**');

function stageLines(stages: readonly Stage[]): string[] {
  if (stages.length === 0) return [];
  return [
    '## Where the time goes',
    '',
    'CPU µs per small chat request with the chain built up plugin by plugin; the first row is everything but plugins.',
    '',
    '| chain | CPU µs | added |',
    '| --- | ---: | ---: |',
    ...stages.map(
      ({ chain, cpu }, index) =>
        `| ${chain} | ${shown(cpu)} | ${index === 0 ? '' : shown(cpu - stages[index - 1]!.cpu)} |`,
    ),
    '',
  ];
}

export function renderResults(
  rows: readonly Row[],
  stages: readonly Stage[],
  auditOk: boolean,
  { rounds, seconds, nginx }: Conditions,
): string {
  const lines = [
    '# Results of the last run',
    '',
    `${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC, Node ${process.version}, Linux ${release()}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown CPU'}.`,
    `Medians of ${rounds} interleaved rounds of ${seconds} s after one that counts for nothing; proxies pinned to one core, load (autocannon) and vendor to the other. Full chain: auth, limits, idempotency, normalize, billing with journal and usage log, metrics.${nginx ? '' : ' nginx is not installed here.'}`,
    '',
    '| what | figure | bare uWS + undici | gateway | nginx | ratio | goal | |',
    '| --- | --- | ---: | ---: | ---: | ---: | --- | --- |',
    ...rows.map(
      (one) =>
        `| ${one.what} | ${one.figure} | ${shown(one.bare)} | ${shown(one.gateway)} | ${shown(one.nginx)} | ${shown(one.ratio)} | ${one.goal} | ${verdict(one.met)} |`,
    ),
    '',
    'Ratios are to the bare pass-through, where the row says nothing else. Translated streams and realtime have no bare column: a pass-through does not do that work. Memory is the growth of what is resident: what found room in memory that the process had already does not show.',
    '',
    ...stageLines(stages),
    `The ledger's audit after the run: ${auditOk ? 'every account adds up' : '**it does not add up**'}.`,
    '',
  ];
  return lines.join('\n');
}
