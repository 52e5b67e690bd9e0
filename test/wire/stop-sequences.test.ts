import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileStops, StopMatcher } from '../../engine/wire/stop-sequences.ts';

/** The same by looking at the whole text at once: the first end of a sequence counts, the longest that ends there. */
function cutAtOnce(text: string, stops: readonly string[]): { text: string; met: string | null } {
  for (let end = 1; end <= text.length; end++) {
    const met = stops.filter((stop) => text.endsWith(stop, end)).toSorted((a, b) => b.length - a.length)[0];
    if (met !== undefined) return { text: text.slice(0, end - met.length), met };
  }
  return { text, met: null };
}

function cutInPieces(pieces: readonly string[], stops: readonly string[]) {
  const matcher = new StopMatcher(compileStops(stops));
  const passed: string[] = [];
  for (const piece of pieces) {
    const { text, met } = matcher.push(piece);
    passed.push(text);
    if (met !== null) return { text: passed.join(''), met, passed };
  }
  passed.push(matcher.rest());
  return { text: passed.join(''), met: null, passed };
}

/** Few letters, so that beginnings, overlaps and repetitions are the rule. */
const letters = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '😀'), maxLength: 40 });
const stops = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '\n', '😀'), minLength: 1, maxLength: 6 }), {
  minLength: 1,
  maxLength: 5,
});

describe('2.8 stop sequences applied by the gateway', () => {
  it('end any text at the same place, wherever it is cut', () => {
    fc.assert(
      fc.property(fc.array(letters, { maxLength: 12 }), stops, (pieces, sequences) => {
        const { text, met } = cutInPieces(pieces, sequences);
        expect({ text, met }).toEqual(cutAtOnce(pieces.join(''), sequences));
      }),
      { numRuns: 2000 },
    );
  });

  it('keep back nothing that cannot be the beginning of one', () => {
    fc.assert(
      fc.property(letters, stops, (text, sequences) => {
        const passed = new StopMatcher(compileStops(sequences)).push(text);
        if (passed.met !== null) return;
        const held = text.slice(passed.text.length);
        expect(held === '' || sequences.some((stop) => stop.startsWith(held) && stop !== held)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    [['x EN', 'D y'], ['END'], 'x ', 'END'],
    [['aab'], ['ab'], 'a', 'ab'],
    [['ababac'], ['abac'], 'ab', 'abac'],
    [['one two'], ['two', 'ne two'], 'o', 'ne two'],
    [['one two'], ['two', 'e'], 'on', 'e'],
    [['EN'], ['END'], 'EN', null],
    [['E', 'N', 'E', 'ND'], ['END'], 'EN', 'END'],
  ])('%j with %j', (pieces, sequences, text, met) => {
    expect(cutInPieces(pieces, sequences)).toMatchObject({ text, met });
  });

  it('part what something else stands between', () => {
    const matcher = new StopMatcher(compileStops(['END']));
    expect(matcher.push('x E')).toEqual({ text: 'x ', met: null });
    expect(matcher.rest()).toBe('E');
    expect(matcher.push('ND')).toEqual({ text: 'ND', met: null });
  });
});
