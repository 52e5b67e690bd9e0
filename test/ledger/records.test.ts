import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { Records } from '../../engine/ledger/records.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

async function collected(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    collectGarbage();
  }
}

it('a key with a hold is the same one however long nobody asked for it; others are forgotten', async () => {
  const records = new Records();
  const holdOn = (id: number) => {
    const key = records.key(id, 7);
    key.hold(30);
    return { key };
  };
  const held = holdOn(1);
  const forget = (id: number) => void records.key(id, 8).charge(5);
  forget(2);
  expect(records.key(2, 8).pending).toBe(5);
  await collected();
  expect(records.key(1, 7)).toBe(held.key);
  expect(records.account(7).held).toBe(30);
  expect(records.key(2, 8).pending).toBe(0);
});
