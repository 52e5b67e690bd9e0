import { type Bench, note } from '../bench.ts';
import { median } from '../load.ts';
import { cpuMicroseconds, proxyCore, startProcess } from '../processes.ts';
import { type Row, row } from '../results.ts';
import { compare, compareFully } from './load-rows.ts';

const loadOf = (responseFormat: 'b64_json' | 'url') => ({
  path: '/v1/images/generations',
  body: JSON.stringify({ model: 'alpha-image-1k', prompt: 'a fox', response_format: responseFormat }),
  connections: 4,
});

/** CPU µs for decoding and writing one image: no gateway that answers with a URL can take less on top of the bare one. */
async function storingCost({ rounds, seconds }: Bench): Promise<number> {
  const count = 60 * seconds;
  const storing = await startProcess('storing', './storing.js', [], proxyCore);
  const costs: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    note(`1 MB image, decoded and written: ${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}`);
    const before = cpuMicroseconds([storing.pid]);
    await storing.ask({ count });
    if (round > 0) costs.push((cpuMicroseconds([storing.pid]) - before) / count);
  }
  await storing.stop();
  return median(costs);
}

/** A pass-through keeps nothing: the one yardstick of a URL is what it takes plus a file with the image. */
async function stored(bench: Bench): Promise<Row[]> {
  const what = '1 MB image, url, c=4';
  const { cpu, rows } = await compareFully(bench, { what, load: loadOf('url') });
  const bare = cpu.bare + (await storingCost(bench));
  const ratio = cpu.gateway / bare;
  const figure = 'CPU µs, bare + decoding + file';
  return [...rows, row(what, figure, { bare, gateway: cpu.gateway, ratio, goal: '≤ 1.2', met: ratio <= 1.2 })];
}

export async function images(bench: Bench): Promise<Row[]> {
  const inline = await compare(bench, { what: '1 MB image, b64_json, c=4', load: loadOf('b64_json'), cpuGoal: 1.2 });
  return [...inline, ...(await stored(bench))];
}
