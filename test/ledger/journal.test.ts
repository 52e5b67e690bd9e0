import {
  appendFileSync,
  closeSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { Journal } from '../../engine/ledger/journal.ts';
import { decodeLine, encodeLine } from '../../engine/ledger/journal-line.ts';
import { detailsOf } from '../../engine/ledger/usage-columns.ts';
import { crashOf, customer, keyOf, newFolder, openIn, recordingLog, usageRow } from './open-folder.ts';

const segmentsOf = (folder: string) => readdirSync(join(folder, 'journal')).sort();

async function crashedWith(count: number) {
  const folder = await newFolder();
  const ledger = await openIn(folder);
  const { key, secret } = await customer(ledger, 1000);
  for (let index = 0; index < count; index++) await ledger.settle(null, usageRow(key, `r${index}`, 10));
  return { folder: await crashOf(folder), secret };
}

describe('journal', () => {
  it('8 a last line that was torn at any byte is cut off, and all before it is charged', async () => {
    const { folder, secret } = await crashedWith(3);
    const path = join(folder, 'journal', segmentsOf(folder)[0]!);
    const whole = readFileSync(path);
    const lastLine = whole.lastIndexOf(10, whole.length - 2) + 1;
    for (const length of [lastLine + 1, lastLine + 20, whole.length - 2]) {
      const copy = await crashOf(folder);
      writeFileSync(join(copy, 'journal', segmentsOf(folder)[0]!), whole.subarray(0, length));
      const log = recordingLog();
      const ledger = await openIn(copy, { log });
      expect((await keyOf(ledger, secret)).account.available).toBe(980);
      expect(log.lines.filter((line) => line.level !== 'info')).toMatchObject([{ level: 'warn' }]);
      expect((await ledger.accounts.audit()).ok).toBe(true);
    }
  });

  it('a last line that lacks only its line feed is whole', async () => {
    const { folder, secret } = await crashedWith(2);
    const path = join(folder, 'journal', segmentsOf(folder)[0]!);
    writeFileSync(path, readFileSync(path).subarray(0, -1));
    expect((await keyOf(await openIn(folder), secret)).account.available).toBe(980);
  });

  it('a damaged line in the middle is kept and told, and the others are charged', async () => {
    const { folder, secret } = await crashedWith(3);
    const name = segmentsOf(folder)[0]!;
    const path = join(folder, 'journal', name);
    writeFileSync(path, readFileSync(path, 'utf8').replace('"r1"', '"x1"'));
    const log = recordingLog();
    const ledger = await openIn(folder, { log });
    expect((await keyOf(ledger, secret)).account.available).toBe(980);
    expect(log.lines.filter((line) => line.level === 'error')).toMatchObject([{ fields: { lines: [2] } }]);
    expect(segmentsOf(folder)).toEqual([`${name}.damaged`]);
  });

  it('replays what a crash in the middle of a replay has left, without charging twice', async () => {
    const { folder, secret } = await crashedWith(5);
    const name = segmentsOf(folder)[0]!;
    const lines = readFileSync(join(folder, 'journal', name));
    const first = await openIn(folder);
    await first.close();
    writeFileSync(join(folder, 'journal', name), lines);
    appendFileSync(join(folder, 'journal', '00000009.jsonl'), lines);
    const ledger = await openIn(folder);
    expect((await keyOf(ledger, secret)).account.available).toBe(950);
    expect(segmentsOf(folder)).toEqual([]);
  });

  it('names that contain any character survive', async () => {
    const folder = await newFolder();
    const ledger = await openIn(folder);
    const { key } = await customer(ledger, 1000);
    const model = 'a\nb\r\u2028\u2029"\\ü\u{1f600}\u0001';
    const row = usageRow(key, 'r1', 1, { model });
    await ledger.settle(null, row);
    await ledger.settle(null, usageRow(key, 'r2', 1, { model: 'x'.repeat(100_000) }));
    const again = await openIn(await crashOf(folder));
    const rows = await again.accounts.usage({ limit: 5 });
    expect(rows.find((each) => each.requestId === 'r1')).toEqual(row);
    expect(rows.find((each) => each.requestId === 'r2')!.model).toHaveLength(300);
  });

  it('removes segments when their rows are in the database', async () => {
    const folder = await newFolder();
    const ledger = await openIn(folder, { segmentSize: 2000 });
    const { key } = await customer(ledger, 100_000);
    for (let index = 0; index < 100; index++) await ledger.settle(null, usageRow(key, `r${index}`, 1));
    await ledger.flush();
    expect(segmentsOf(folder).length).toBeLessThanOrEqual(1);
    await ledger.close();
    expect(segmentsOf(folder)).toEqual([]);
  });

  it('8 where the journal cannot be written the settlement is refused, nothing is charged, and it goes on afterwards', async () => {
    const folder = await newFolder();
    const log = recordingLog();
    const ledger = await openIn(folder, { log });
    const { key } = await customer(ledger, 1000);
    renameSync(join(folder, 'journal'), join(folder, 'gone'));
    const hold = ledger.hold(key, 100);
    const [first, second] = await Promise.allSettled([
      ledger.settle(hold, usageRow(key, 'r1', 100)),
      ledger.settle(null, usageRow(key, 'r2', 100)),
    ]);
    const refused = { reason: { code: 'internal_error', cause: { code: 'ENOENT' } } };
    expect([first, second]).toMatchObject([refused, refused]);
    expect(key.account.available).toBe(1000);
    expect(log.lines).toMatchObject([{ level: 'error', fields: { rows: 2 } }]);
    expect(() => ledger.hold(key, 0)).toThrow(expect.objectContaining({ code: 'overloaded' }));
    mkdirSync(join(folder, 'journal'));
    const later = await vi.waitFor(() => ledger.hold(key, 7), { timeout: 1000, interval: 5 });
    expect(segmentsOf(folder).map((name) => statSync(join(folder, 'journal', name)).size)).toEqual([0]);
    await ledger.settle(later, usageRow(key, 'r3', 7));
    await ledger.flush();
    expect(key.account.available).toBe(993);
    expect((await ledger.accounts.usage({ limit: 9 })).map((row) => row.requestId)).toEqual(['r3']);
    rmSync(join(folder, 'gone'), { recursive: true });
  });

  it.each(['off', 'interval', 'batch'] as const)(
    'all lines of one turn share one write and one promise (sync %s)',
    async (sync) => {
      const folder = await newFolder();
      const written: number[][] = [];
      const journal = new Journal<number>({
        folder,
        sync,
        log: recordingLog(),
        segmentSize: 1000,
        firstNumber: 7,
        onWritten: (entries) => written.push([...entries]),
        onFailed: () => expect.fail(),
      });
      const promises = [1, 2, 3].map((number) => journal.append(number, `${number}\n`));
      expect(new Set(promises).size).toBe(1);
      await promises[0];
      await journal.append(4, '4\n');
      expect(written).toEqual([[1, 2, 3], [4]]);
      expect(readFileSync(join(folder, '00000007.jsonl'), 'utf8')).toBe('1\n2\n3\n4\n');
      await journal.close();
      await expect(journal.append(5, '5\n')).rejects.toMatchObject({ cause: { message: 'The ledger is closed.' } });
    },
  );

  it('a segment that the disk refuses is left alone and the next one is begun', async () => {
    const folder = await newFolder();
    const failed: number[] = [];
    const journal = new Journal<number>({
      folder,
      sync: 'off',
      log: recordingLog(),
      segmentSize: 1000,
      firstNumber: 1,
      onWritten: () => {},
      onFailed: (entries) => failed.push(...entries),
    });
    await journal.append(1, 'one\n');
    closeSync(journal.segments[0]!.descriptor);
    await expect(journal.append(2, 'two\n')).rejects.toMatchObject({ cause: { code: 'EBADF' } });
    await journal.append(3, 'three\n');
    expect(failed).toEqual([2]);
    expect(statSync(join(folder, '00000001.jsonl')).size).toBe(4);
    expect(readFileSync(join(folder, '00000002.jsonl'), 'utf8')).toBe('three\n');
    await journal.close();
  });

  it('a line with any change is not taken for whole', async () => {
    const ledger = await openIn(await newFolder());
    const { key } = await customer(ledger, 1);
    const { requestId, time, userId, keyId, quota, ...others } = usageRow(key, 'r1', 12);
    const details = detailsOf({ requestId, time, userId, keyId, quota, ...others });
    const line = encodeLine(details).slice(0, -1);
    expect(decodeLine(line)).toEqual({ requestId, time, userId, keyId, quota, details });
    for (let index = 0; index < line.length; index++) {
      const other = line[index] === '7' ? '8' : '7';
      expect(decodeLine(line.slice(0, index) + other + line.slice(index + 1))).toBeNull();
      expect(decodeLine(line.slice(0, index))).toBeNull();
    }
  });
});
