/** Every fault of a vendor's answer, for every family: the right image or an explicit error that costs nothing. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Fault } from '../../simulator/faults/fault.ts';
import { type Stack, startStack } from '../kit/stack.ts';
import { edit, expectAudit, generate, jsonOf, money, stored } from './images-kit.ts';

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
