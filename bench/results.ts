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

export function renderResults(
  rows: readonly Row[],
  stages: readonly { chain: string; cpu: number }[],
  auditOk: boolean,
  { rounds, seconds, nginx }: Conditions,
): string {
  const lines = [
    '# Results of the last run',
    '',
    `${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC, Node ${process.version}, Linux ${release()}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown CPU'}.`,
    `Medians of ${rounds} interleaved rounds of ${seconds} s; proxies pinned to one core, load (autocannon) and vendor to the other. Full chain: auth, limits, idempotency, normalize, billing with journal and usage log, metrics.${nginx ? '' : ' nginx is not installed here.'}`,
    '',
    '| what | figure | bare uWS + undici | gateway | nginx | ratio | goal | |',
    '| --- | --- | ---: | ---: | ---: | ---: | --- | --- |',
    ...rows.map(
      (row) =>
        `| ${row.what} | ${row.figure} | ${shown(row.bare)} | ${shown(row.gateway)} | ${shown(row.nginx)} | ${shown(row.ratio)} | ${row.goal} | ${verdict(row.met)} |`,
    ),
    '',
    '## Where the time goes',
    '',
    'CPU µs per small chat request with the chain built up plugin by plugin; the first row is everything but plugins.',
    '',
    '| chain | CPU µs | added |',
    '| --- | ---: | ---: |',
    ...stages.map(
      (stage, index) =>
        `| ${stage.chain} | ${shown(stage.cpu)} | ${index === 0 ? '' : shown(stage.cpu - stages[index - 1]!.cpu)} |`,
    ),
    '',
    `The ledger's audit after the run: ${auditOk ? 'every account adds up' : '**it does not add up**'}.`,
    '',
  ];
  return lines.join('\n');
}
