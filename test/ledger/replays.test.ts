import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { crashOf, newFolder, openIn } from './open-folder.ts';

const answer = (text: string) => ({ status: 200, contentType: 'application/json', body: Buffer.from(text) });

describe('answers of idempotent requests', () => {
  it('the first is new, then running, then done; another body conflicts', async () => {
    const { replays } = await openIn(await newFolder());
    expect(await replays.begin('s', 'b1')).toEqual({ state: 'new' });
    expect(await replays.begin('s', 'b1')).toEqual({ state: 'running' });
    expect(await replays.begin('s', 'b2')).toEqual({ state: 'conflict' });
    await replays.finish('s', answer('hello'));
    expect(await replays.begin('s', 'b1')).toEqual({ state: 'done', ...answer('hello') });
    expect(await replays.begin('s', 'b2')).toEqual({ state: 'conflict' });
    expect(await replays.begin('t', 'b2')).toEqual({ state: 'new' });
  });

  it('of several at once exactly one is new', async () => {
    const { replays } = await openIn(await newFolder());
    const states = await Promise.all(Array.from({ length: 20 }, () => replays.begin('s', 'b')));
    expect(states.filter(({ state }) => state === 'new')).toHaveLength(1);
    expect(states.filter(({ state }) => state === 'running')).toHaveLength(19);
  });

  it('an abandoned one is new again; one that was not begun cannot finish', async () => {
    const { replays } = await openIn(await newFolder());
    await replays.begin('s', 'b1');
    await replays.abandon('s');
    expect(await replays.begin('s', 'b2')).toEqual({ state: 'new' });
    await replays.finish('s', answer('x'));
    await expect(replays.finish('s', answer('x'))).rejects.toThrow('not begun');
  });

  it('done ones survive a crash, running ones count as new', async () => {
    const folder = await newFolder();
    const { replays } = await openIn(folder);
    await replays.begin('done', 'b');
    await replays.finish('done', answer('kept'));
    await replays.begin('running', 'b');
    const again = await openIn(await crashOf(folder));
    expect(await again.replays.begin('done', 'b')).toEqual({ state: 'done', ...answer('kept') });
    expect(await again.replays.begin('running', 'b')).toEqual({ state: 'new' });
  });

  it('are forgotten after 24 hours, with their files', async () => {
    const folder = await newFolder();
    let time = 1_000_000;
    const { replays } = await openIn(folder, { now: () => time });
    await replays.begin('s', 'b');
    await replays.finish('s', answer('old'));
    time += 24 * 3_600_000 - 1;
    expect(await replays.begin('s', 'b')).toMatchObject({ state: 'done' });
    time += 1;
    expect(await replays.begin('s', 'other')).toEqual({ state: 'new' });
    expect(readdirSync(join(folder, 'replays'))).toEqual([]);
    await replays.finish('s', answer('new'));
    time += 24 * 3_600_000;
    const again = await openIn(await crashOf(folder), { now: () => time });
    expect(await again.replays.begin('s', 'b')).toEqual({ state: 'new' });
  });

  it('the oldest go first when there are too many bytes', async () => {
    const folder = await newFolder();
    let time = 1000;
    const { replays } = await openIn(folder, { replayBytes: 1000, now: () => time++ });
    for (const scope of ['a', 'b', 'c']) {
      await replays.begin(scope, 'b');
      await replays.finish(scope, answer('x'.repeat(400)));
    }
    expect(readdirSync(join(folder, 'replays'))).toHaveLength(2);
    expect(await replays.begin('a', 'b')).toEqual({ state: 'new' });
    expect(await replays.begin('c', 'b')).toMatchObject({ state: 'done' });
  });

  it('a lost or cut file makes the request new; files without a row are removed', async () => {
    const folder = await newFolder();
    const ledger = await openIn(folder);
    for (const scope of ['lost', 'cut']) {
      await ledger.replays.begin(scope, 'b');
      await ledger.replays.finish(scope, answer(`of ${scope}`));
      const [file] = readdirSync(join(folder, 'replays'));
      if (scope === 'lost') rmSync(join(folder, 'replays', file!));
      else writeFileSync(join(folder, 'replays', file!), 'of');
      expect(await ledger.replays.begin(scope, 'b')).toEqual({ state: 'new' });
    }
    await ledger.close();
    writeFileSync(join(folder, 'replays', 'orphan'), 'x');
    await openIn(folder);
    expect(readdirSync(join(folder, 'replays'))).toEqual([]);
  });
});
