import type { Bench } from '../bench.ts';
import type { Row } from '../results.ts';
import { compare } from './load-rows.ts';

export async function images(bench: Bench): Promise<Row[]> {
  const rows: Row[] = [];
  for (const format of ['b64_json', 'url'] as const) {
    const body = JSON.stringify({ model: 'alpha-image-1k', prompt: 'a fox', response_format: format });
    const load = { path: '/v1/images/generations', body, connections: 4 };
    rows.push(...(await compare(bench, { what: `1 MB image, ${format}, c=4`, load, cpuGoal: 1.2 })));
  }
  return rows;
}
