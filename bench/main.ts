#!/usr/bin/env node
/** `npm run bench`: one run, one table; every figure beside the bare pass-through measured in the same minutes. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../engine/config/index.ts';
import { type LoadResult, median, runLoad } from './load.ts';
import { startNginx } from './nginx.ts';
import { loadCore, type Measured, pin, proxyCore, startProcess } from './processes.ts';
import { type Row, renderResults } from './results.ts';
import { steps } from './steps.ts';
import { runStreams, type StreamsResult } from './streams.ts';

if (process.argv.includes('--help')) {
  process.stdout.write(
    'npm run bench [-- --quick] [-- --write]\n\n  --quick  one short round of each\n  --write  also writes bench/RESULTS.md\n',
  );
  process.exit(0);
}
const quick = process.argv.includes('--quick');
const rounds = quick ? 1 : 5;
const seconds = quick ? 2 : 4;
const note = (text: string) => process.stderr.write(`${text}\n`);

const chat = (extra: object = {}) =>
  JSON.stringify({
    model: 'demo-chat',
    messages: [{ role: 'user', content: 'A question of some words, as people ask them. '.repeat(8) }],
    ...extra,
  });

/** The same load on each proxy in turn, `rounds` times, so that a noisy minute hits all of them. */
async function interleave(
  what: string,
  targets: readonly Measured[],
  run: (target: Measured) => Promise<LoadResult>,
): Promise<Map<Measured, LoadResult[]>> {
  const results = new Map<Measured, LoadResult[]>(targets.map((target) => [target, []]));
  for (let round = 0; round < rounds; round++) {
    note(`${what}: round ${round + 1} of ${rounds}`);
    for (const target of targets) {
      const result = await run(target);
      if (result.failures > 0) note(`  ${target.name}: ${result.failures} failures, first: ${result.firstFailure}`);
      results.get(target)!.push(result);
    }
  }
  return results;
}

const mid = (results: readonly LoadResult[], figure: (one: LoadResult) => number) => median(results.map(figure));

pin(process.pid, loadCore);
const upstream = await startProcess('vendor', './upstream.js', [], loadCore);
const bare = await startProcess('bare', './bare.js', [upstream.url], proxyCore);
const gateway = await startProcess('gateway', './gateway.js', [upstream.url], proxyCore);
const nginx = await startNginx(upstream.url);
const proxies = [bare, gateway, ...(nginx === null ? [] : [nginx])];
const rows: Row[] = [];
const ratio = (a: number, b: number) => a / b;

function addLoadRows(
  name: string,
  results: Map<Measured, LoadResult[]>,
  perChunk: number | null,
  goals: { cpu: number; rps: number | null },
): void {
  const of = (target: Measured, figure: (one: LoadResult) => number) => mid(results.get(target)!, figure);
  const unit = perChunk === null ? 'CPU µs / request' : 'CPU µs / chunk';
  const cpu = (target: Measured) => of(target, (one) => one.cpuPerRequest / (perChunk ?? 1));
  const withNginx = nginx !== null && results.has(nginx);
  rows.push({
    what: name,
    figure: unit,
    bare: cpu(bare),
    gateway: cpu(gateway),
    nginx: withNginx ? cpu(nginx) : null,
    ratio: ratio(cpu(gateway), cpu(bare)),
    goal: `≤ ${goals.cpu}`,
    met: ratio(cpu(gateway), cpu(bare)) <= goals.cpu,
  });
  if (goals.rps === null) return;
  const rps = (target: Measured) => of(target, (one) => one.requestsPerSecond);
  rows.push({
    what: name,
    figure: 'requests / s',
    bare: rps(bare),
    gateway: rps(gateway),
    nginx: withNginx ? rps(nginx) : null,
    ratio: ratio(rps(gateway), rps(bare)),
    goal: `≥ ${goals.rps}`,
    met: ratio(rps(gateway), rps(bare)) >= goals.rps,
  });
  rows.push({
    what: name,
    figure: 'core busy',
    bare: of(bare, (one) => one.busy),
    gateway: of(gateway, (one) => one.busy),
    nginx: withNginx ? of(nginx, (one) => one.busy) : null,
    ratio: null,
    goal: '',
    met: null,
  });
  if (withNginx)
    rows.push({
      what: name,
      figure: 'CPU against nginx',
      bare: null,
      gateway: cpu(gateway),
      nginx: cpu(nginx),
      ratio: ratio(cpu(gateway), cpu(nginx)),
      goal: '≤ 2.5',
      met: ratio(cpu(gateway), cpu(nginx)) <= 2.5,
    });
}

for (const target of proxies)
  await runLoad(target, { path: '/v1/chat/completions', body: chat(), connections: 64, seconds: 2 });
addLoadRows(
  'small chat, c=64',
  await interleave('small chat', proxies, (target) =>
    runLoad(target, { path: '/v1/chat/completions', body: chat(), connections: 64, seconds }),
  ),
  null,
  { cpu: 1.35, rps: 0.75 },
);

const streamBody = (chunks: number, delay: number) =>
  chat({ stream: true, messages: [{ role: 'user', content: `[chunks=${chunks}] [delay=${delay}]` }] });
addLoadRows(
  'streamed chat, 100 chunks, c=100',
  await interleave('streamed chat', proxies, (target) =>
    runLoad(target, {
      path: '/v1/chat/completions',
      body: streamBody(100, 10),
      connections: 100,
      seconds: seconds + 1,
    }),
  ),
  100,
  { cpu: 1.15, rps: null },
);

const streams = new Map<string, StreamsResult>();
// Processes of their own: what an earlier load left in a heap would hide what a stream takes.
for (const [name, file] of [
  ['bare', './bare.js'],
  ['gateway', './gateway.js'],
] as const) {
  note(`1,000 slow streams: ${name}`);
  const fresh = await startProcess(name, file, [upstream.url], proxyCore);
  await runStreams(fresh, 50, 5, 200);
  streams.set(name, await runStreams(fresh, quick ? 200 : 1000, quick ? 10 : 30, 200));
  await fresh.stop();
}
const slow = (figure: (one: StreamsResult) => number) => ({
  bare: figure(streams.get('bare')!),
  gateway: figure(streams.get('gateway')!),
});
const memory = slow((one) => one.bytesPerStream / 1024);
rows.push({
  what: '1,000 slow streams',
  figure: 'KB / stream',
  ...memory,
  nginx: null,
  ratio: ratio(memory.gateway, memory.bare),
  goal: '≤ 40 KB',
  met: memory.gateway <= 40,
});
const p50 = slow((one) => one.delayP50);
rows.push({
  what: '1,000 slow streams',
  figure: 'delay of a chunk p50, ms',
  ...p50,
  nginx: null,
  ratio: null,
  goal: '',
  met: null,
});
const p99 = slow((one) => one.delayP99);
rows.push({
  what: '1,000 slow streams',
  figure: 'delay of a chunk p99, ms',
  ...p99,
  nginx: null,
  ratio: null,
  goal: '≤ bare + 1 ms',
  met: p99.gateway - p99.bare <= 1,
});
const failed = slow((one) => one.failures);
rows.push({
  what: '1,000 slow streams',
  figure: 'failed',
  ...failed,
  nginx: null,
  ratio: null,
  goal: '0',
  met: failed.gateway === 0,
});

for (const format of ['b64_json', 'url'] as const) {
  const body = JSON.stringify({ model: 'alpha-image-1k', prompt: 'a fox', response_format: format });
  addLoadRows(
    `1 MB image, ${format}, c=4`,
    await interleave(`image ${format}`, [bare, gateway], (target) =>
      runLoad(target, { path: '/v1/images/generations', body, connections: 4, seconds }),
    ),
    null,
    { cpu: 1.2, rps: null },
  );
}

note('100 reloads under load');
let reloading = true;
const underLoad = runLoad(gateway, {
  path: '/v1/chat/completions',
  body: chat(),
  connections: 32,
  seconds: quick ? 4 : 12,
});
let reloads = 0;
const reloader = (async () => {
  while (reloading && reloads < 100) {
    await gateway.ask({ ask: 'reload' });
    reloads++;
  }
})();
const reloadResult = await underLoad;
reloading = false;
await reloader;
rows.push({
  what: `${reloads} reloads under load`,
  figure: 'failed requests',
  bare: null,
  gateway: reloadResult.failures,
  nginx: null,
  ratio: null,
  goal: '0',
  met: reloadResult.failures === 0 && (quick || reloads === 100),
});

const stages: { readonly chain: string; readonly cpu: number }[] = [];
const stageResults = new Map<number, LoadResult[]>(steps.map((_, index) => [index, []]));
for (let round = 0; round < rounds; round++) {
  note(`stages: round ${round + 1} of ${rounds}`);
  for (const index of steps.keys()) {
    stageResults.get(index)!.push(
      await runLoad(gateway, {
        path: `/step${index}/v1/chat/completions`,
        body: chat(),
        connections: 64,
        seconds: quick ? 1 : 3,
      }),
    );
  }
}
for (const [index, chain] of steps.entries())
  stages.push({ chain: chain.join(' → '), cpu: mid(stageResults.get(index)!, (one) => one.cpuPerRequest) });

const audit = (await gateway.ask({ ask: 'audit' })) as { readonly ok: boolean };
const text = renderResults(rows, stages, audit.ok, { rounds, seconds, nginx: nginx !== null });
process.stdout.write(text);
if (process.argv.includes('--write')) writeFileSync(join(packageRoot(), 'bench', 'RESULTS.md'), text);
await Promise.all([...proxies, upstream].map((one) => one.stop()));
