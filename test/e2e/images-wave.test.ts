/** Every kind of image request at once, with faults, clients that leave and repeated keys. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Fault } from '../../simulator/faults/fault.ts';
import { type Stack, startStack } from '../kit/stack.ts';
import { eventually, expectAudit, png } from './images-kit.ts';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    balance: 10_000_000_000,
    heartbeat: 20,
    edit({ channels }) {
      // Nothing here stalls: a busy machine is no vendor that is late.
      for (const channel of Object.values<Record<string, unknown>>(channels.channels))
        channel.cooldown = { failures: 100_000, first: '1ms', longest: '1ms' };
    },
  });
});
afterAll(() => stack.close());

const models = ['alpha-image-1k', 'beta-3-pro-image', 'gamma-imagine-image'];

it('8 hundreds of requests of all kinds, with faults, aborts and repeated keys: the audit holds, nothing stays open', async () => {
  const kinds: Fault[] = [
    { status: 500 },
    { status: 429 },
    { cut: 1 },
    { refuse: 'safety' },
    { refuse: 'noimage' },
    { malformed: 0 },
    { latency: 60 },
    { reset: 'read' },
    { delay: 20 },
  ];
  let turn = 0;
  const pick = <T>(list: readonly T[]): T => list[turn++ % list.length]!;
  const one = async (index: number) => {
    const body = {
      model: models[index % 3]!,
      prompt: `fox ${index % 17} [bytes=3000]`,
      n: index % 3 === 1 ? 1 : 1 + (index % 2),
      stream: index % 4 === 0,
      response_format: index % 5 === 0 ? 'b64_json' : 'url',
    };
    if (index % 3 === 0) stack.simulator.faults.add({ match: { times: 1 }, fault: pick(kinds) });
    const controller = new AbortController();
    if (index % 7 === 0) setTimeout(() => controller.abort(), index % 50);
    const headers: Record<string, string> = { authorization: `Bearer ${stack.key}` };
    if (index % 6 === 0) headers['idempotency-key'] = `key-${index % 30}`;
    const isEdit = index % 8 === 3;
    const form = new FormData();
    for (const [name, value] of Object.entries(body)) form.append(name, String(value));
    form.append('image', new Blob([new Uint8Array(png(index % 200))], { type: 'image/png' }), 'a.png');
    const response = await fetch(`${stack.base}/images/${isEdit ? 'edits' : 'generations'}`, {
      method: 'POST',
      headers: isEdit ? headers : { ...headers, 'content-type': 'application/json' },
      body: isEdit ? form : JSON.stringify(body),
      signal: controller.signal,
    });
    await response.text();
    return response.status;
  };
  const results: PromiseSettledResult<number>[] = [];
  for (let from = 0; from < 600; from += 60)
    results.push(...(await Promise.allSettled(Array.from({ length: 60 }, (_, index) => one(from + index)))));
  const active = await eventually(
    () => stack.gateway.snapshot.active,
    (count) => count === 0,
  );
  expect(active).toBe(0);
  const statuses = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(200);
  expect(statuses.filter((status) => ![200, 400, 409, 429, 502, 503].includes(status))).toEqual([]);
  await expectAudit(stack);
});
