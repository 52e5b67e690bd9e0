/** Every fault of a vendor's answer, for every family: the right image or an explicit error that costs nothing; then all at once. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Fault } from '../../simulator/faults/fault.ts';
import { type Stack, startStack } from '../kit/stack.ts';
import { edit, eventually, expectAudit, generate, jsonOf, money, png, stored } from './images-kit.ts';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    balance: 10_000_000_000,
    heartbeat: 20,
    edit({ channels }) {
      for (const channel of Object.values<Record<string, unknown>>(channels.channels)) {
        channel.timeouts = { connect: '1s', firstByte: '1s', idle: '500ms' };
        channel.cooldown = { failures: 100_000, first: '1ms', longest: '1ms' };
      }
    },
  });
});
afterEach(() => stack.simulator.reset());
afterAll(async () => {
  await expectAudit(stack);
  await stack.close();
});

const models = ['alpha-image-1k', 'beta-3-pro-image', 'gamma-imagine-image'];

const faults: [string, Fault, number][] = [
  ['split into 3 bytes a write', { split: 3 }, 200],
  ['delayed', { latency: 200 }, 200],
  ['8 MB of blanks inside', { hugeline: 8_000_000 }, 200],
  ['without usage', { nousage: true }, 200],
  ['cut in the middle', { cut: 0 }, 502],
  ['cut after 50 bytes', { cutbody: 50 }, 502],
  ['shorter than announced', { length: 'longer' }, 502],
  ['longer than announced', { length: 'shorter' }, 502],
  ['silent after the half', { stall: 0 }, 504],
  ['silent from the beginning', { latency: 5000 }, 504],
  ['a reset before the body was read', { reset: 'now' }, 502],
  ['a reset after the body was read', { reset: 'read' }, 502],
  ['broken JSON', { malformed: 0 }, 502],
  ['an error in a 200', { error200: true }, 502],
  ['empty', { empty200: true }, 502],
  ['a page', { wrongtype: true }, 502],
];

describe.each(models)('%s', (model) => {
  it.each(faults)('7 %s', async (_name, fault, status) => {
    for (const send of [
      () => generate(stack, { model }),
      () => generate(stack, { model, response_format: 'b64_json' }),
      () => edit(stack, { model }),
    ]) {
      stack.simulator.reset();
      stack.simulator.faults.add({ fault });
      const before = await money(stack);
      const response = await send();
      const reply = await jsonOf(response);
      const row = (await stack.usage())[0]!;
      expect({ status: response.status, code: reply.error?.code ?? null }).toEqual({ status, code: row.code });
      if (status === 200) {
        expect(row).toMatchObject({ images: 1, outcome: 'ok' });
        if (reply.data[0].url !== undefined) await stored(stack, reply.data[0].url);
      } else {
        expect(row).toMatchObject({ images: 0, quota: 0, outcome: 'error', attempts: 1 });
        expect(await money(stack)).toEqual(before);
      }
    }
  });
});

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
  const before = (await stack.usage()).length;
  expect(before).toBeGreaterThan(0);
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
