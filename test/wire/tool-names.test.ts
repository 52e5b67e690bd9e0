import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writableNames } from '../../engine/wire/tool-names.ts';
import { protocols } from '../chat-protocols/support.ts';

const rules = Object.values(protocols).flatMap(({ name, toolNames }) => (toolNames ? [{ name, rule: toolNames }] : []));
const unit = fc.constantFrom('a', 'Z', '0', '_', '-', '.', ':', '/', ' ', 'é', '😀');
const name = fc.oneof(fc.string({ unit, maxLength: 12 }), fc.string({ unit, minLength: 60, maxLength: 140 }));

describe.each(rules)('2.8 names of tools for a vendor of $name', ({ rule }) => {
  it('are such as it takes, no two the same, and those it takes stay', () => {
    fc.assert(
      fc.property(fc.array(name, { maxLength: 12 }), (names) => {
        const written = writableNames(names, rule);
        const meant = [...new Set(names)].filter((one) => one !== '');
        const sent = meant.map((one) => written?.get(one) ?? one);
        for (const [index, one] of sent.entries()) {
          expect(one).toMatch(rule.pattern);
          if (rule.pattern.test(meant[index]!)) expect(one).toBe(meant[index]);
        }
        expect(new Set(sent).size).toBe(sent.length);
      }),
    );
  });

  it('are the same in every request', () => {
    const odd = 'files / read a file';
    const alone = writableNames([odd], rule)!.get(odd);
    expect(writableNames(['other', odd, 'x'.repeat(200)], rule)!.get(odd)).toBe(alone);
    expect(alone).toMatch(/^files___read_a_file_[0-9a-f]{8}$/);
  });

  it('differ though they begin alike', () => {
    const long = ['a', 'b'].map((end) => `mcp__${'x'.repeat(150)}${end}`);
    const [first, second] = long.map((one) => writableNames(long, rule)!.get(one));
    expect(first).not.toBe(second);
    expect(first).toHaveLength(rule.longest);
  });

  it('give way to a name that a client really uses', () => {
    const odd = 'a b';
    const first = writableNames([odd], rule)!.get(odd)!;
    const second = writableNames([odd, first], rule)!.get(odd)!;
    expect(second).not.toBe(first);
    expect(second).toMatch(rule.pattern);
  });

  it('are written in time however many a client sends', () => {
    const many = Array.from({ length: 20_000 }, (_, index) => `tool ${index}`);
    const started = performance.now();
    expect(writableNames(many, rule)!.size).toBe(many.length);
    // Each is held against all others in one look: else it is minutes.
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
