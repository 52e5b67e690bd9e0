import { type Bench, chatBody, streamBody } from '../bench.ts';
import { type Row, row } from '../results.ts';
import { compare, compareFully } from './load-rows.ts';

const path = '/v1/chat/completions';
const goals = { rps: 0.75, nginx: 2.5 };

export async function smallChat(bench: Bench): Promise<Row[]> {
  const what = 'small chat, c=64';
  const load = { path, body: chatBody(), connections: 64 };
  const { of, cpu, rows } = await compareFully(bench, { what, load, cpuGoal: 1.35, nginx: true });
  const rps = of((one) => one.requestsPerSecond);
  const share = rps.gateway / rps.bare;
  rows.push(
    row(what, 'requests / s', { ...rps, ratio: share, goal: `≥ ${goals.rps}`, met: share >= goals.rps }),
    row(
      what,
      'core busy',
      of((one) => one.busy),
    ),
  );
  if (cpu.nginx === null) return rows;
  const times = cpu.gateway / cpu.nginx;
  const against = { gateway: cpu.gateway, nginx: cpu.nginx, ratio: times };
  rows.push(row(what, 'CPU against nginx', { ...against, goal: `≤ ${goals.nginx}`, met: times <= goals.nginx }));
  return rows;
}

export function streamedChat(bench: Bench): Promise<Row[]> {
  return compare(bench, {
    what: 'streamed chat, 100 chunks, c=100',
    load: { path, body: streamBody(100, 10), connections: 100 },
    chunks: 100,
    cpuGoal: 1.15,
    nginx: true,
  });
}
