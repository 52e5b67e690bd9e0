import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeLine, encodeLine } from '../../engine/ledger/journal-line.ts';
import { detailsOf } from '../../engine/ledger/usage-columns.ts';

const word = fc.oneof(fc.string({ unit: 'binary', maxLength: 400 }), fc.constantFrom('', 'default', '"', '\\', '\0'));
const count = fc.oneof(fc.nat(), fc.constantFrom(0, 2 ** 31, 2 ** 53 - 1));
const duration = fc.oneof(fc.nat(), fc.double({ min: 0, max: 1e9, noNaN: true }));

/** In the order of the journal's format 1. */
const columns = [
  ['requestId', word],
  ['time', count],
  ['userId', count],
  ['keyId', count],
  ['endpoint', word],
  ['model', word],
  ['group', word],
  ['multiplier', word],
  ['channel', fc.option(word)],
  ['attempts', count],
  ['images', count],
  ['inputTokens', count],
  ['cachedInputTokens', count],
  ['cacheWriteTokens', count],
  ['outputTokens', count],
  ['reasoningTokens', count],
  ['quota', count],
  ['status', count],
  ['outcome', fc.constantFrom('ok' as const, 'error' as const, 'aborted' as const)],
  ['code', fc.option(word)],
  ['usageSource', fc.constantFrom('measured' as const, 'estimated' as const)],
  ['durationMs', duration],
  ['firstByteMs', fc.option(duration)],
] as const;
const rare = ['seconds', 'characters', 'searchUnits', 'audioInputTokens', 'audioOutputTokens'] as const;

const rowOf = fc.record({
  ...(Object.fromEntries(columns) as { [Column in (typeof columns)[number] as Column[0]]: Column[1] }),
  ...(Object.fromEntries(rare.map((name) => [name, fc.constantFrom(0, 0, 3)])) as Record<
    (typeof rare)[number],
    fc.Arbitrary<number>
  >),
});

/** What a file can hold of a text. */
const kept = (value: unknown): unknown =>
  typeof value === 'string' ? Buffer.from(value.slice(0, 300)).toString().replaceAll('\0', '\uFFFD') : value;

describe('the text of a usage row', () => {
  it('8 has every value of any row in its place, in one line that is UTF-8', () => {
    fc.assert(
      fc.property(rowOf, (row) => {
        const details = detailsOf(row);
        const counts = rare.map((name) => row[name]);
        const said = [...columns.map(([name]) => row[name]), ...(counts.some((value) => value !== 0) ? counts : [])];
        expect(JSON.parse(details)).toEqual(said.map(kept));
        expect(Buffer.from(details).toString()).toBe(details);
        expect(details).not.toMatch(/[\0-\x1f]/);
        expect(decodeLine(encodeLine(details).slice(0, -1))).toMatchObject({ quota: row.quota, details });
      }),
    );
  });

  it('8 is not made of what no database holds', () => {
    const [row] = fc.sample(rowOf, 1);
    for (const change of [
      { quota: -1 },
      { quota: 0.5 },
      { inputTokens: Number.NaN },
      { time: Infinity },
      { userId: 1.5 },
    ])
      expect(() => detailsOf({ ...row!, ...change })).toThrow(TypeError);
    expect(() => detailsOf({ ...row!, model: 7 as unknown as string })).toThrow(TypeError);
  });
});
