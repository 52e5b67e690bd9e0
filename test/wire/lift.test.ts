import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBase64, encodeBase64, isJsonSafe } from '../../engine/wire/base64.ts';
import { isLiftedObject, Lifted, type LiftedValue, liftedText, liftJson } from '../../engine/wire/lift.ts';

/** Back to what JSON.parse gives. */
function putBack(value: LiftedValue): unknown {
  if (value instanceof Lifted) return value.bytes.toString();
  if (Array.isArray(value)) return value.map(putBack);
  if (!isLiftedObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, putBack(member)]));
}

const same = (text: string) => expect(putBack(liftJson(Buffer.from(text)))).toEqual(JSON.parse(text));
const long = (character: string, length = 5000) => character.repeat(length);

/** Strings on both sides of the threshold, with everything that JSON escapes. Lone surrogates are no UTF-8. */
const characters = fc.constantFrom('a', '/', '\\', '"', '\n', '\u0000', 'é', '😀', ':', '{', ' ');
const strings = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.array(characters, { minLength: 1, maxLength: 8 }).map((units) => long(units.join(''), 1500)),
);
const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number || 0),
    strings,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(strings, fc.constantFrom('__proto__', '0', 'constructor')), tie('value'), { maxKeys: 4 }),
  ),
})).value;

describe('liftJson', () => {
  it('lifting and putting back equals JSON.parse, for any JSON value', () => {
    fc.assert(
      fc.property(values, fc.constantFrom(undefined, 1, '\t'), fc.boolean(), (value, indent, slashes) => {
        const text = JSON.stringify(value, null, indent);
        same(slashes ? text.replaceAll('/', '\\/') : text);
      }),
    );
  });

  it('a long string without escapes is a view of the body', () => {
    const body = Buffer.from(JSON.stringify({ data: [{ b64_json: long('A') }] }));
    const { data } = liftJson(body) as { data: { b64_json: Lifted }[] };
    expect(data[0]!.b64_json.bytes.buffer).toBe(body.buffer);
    expect(data[0]!.b64_json.bytes.length).toBe(5000);
  });

  it.each([
    ['escaped slashes', `"${long('ab\\/')}"`],
    ['escaped quotes', `["${long('\\"')}"]`],
    ['escaped backslashes before the quote', `["${long('\\\\')}","x"]`],
    ['unicode escapes', `["${long('\\u00e9\\ud83d\\ude00')}"]`],
    ['a long key', `{"${long('k')}" : "${long('v')}"}`],
    ['a repeated member', `{"a":"${long('1')}","a":"${long('2')}"}`],
    ['no long string', '{"a":[1,"b",null]}'],
  ])('reads %s', (_, text) => same(text));

  it.each([
    ['an unterminated long string', `{"a":"${long('x')}`],
    ['an unterminated short string', '{"a":"x'],
    ['a quote escaped at the end', `{"a":"${long('x')}\\"`],
    ['a bad escape in a long string', `{"a":"${long('\\x')}"}`],
    ['a missing comma', `{"a":"${long('x')}" "b":1}`],
    ['a long string where a value ended', `[1"${long('x')}"]`],
    ['text after the value', `"${long('x')}"]`],
    ['nothing', ''],
  ])('refuses %s', (_, text) => {
    expect(() => liftJson(Buffer.from(text))).toThrow(SyntaxError);
  });

  it('a stand-in seen in one call means nothing in the next', () => {
    const guesses = ['0', ':0', 'undefined:0', '00000000-0000-0000-0000-000000000000:0'];
    const value = putBack(liftJson(Buffer.from(JSON.stringify([...guesses, long('x')]))));
    expect(value).toEqual([...guesses, long('x')]);
  });

  it('deep nesting around a long string does not exhaust the stack', () => {
    const depth = 5000;
    const body = Buffer.from(`${'['.repeat(depth)}"${long('x')}"${']'.repeat(depth)}`);
    let value = liftJson(body);
    while (Array.isArray(value)) value = value[0]!;
    expect(value).toBeInstanceOf(Lifted);
  });

  it('liftedText cuts long and short strings alike', () => {
    const [short, lifted, number] = liftJson(
      Buffer.from(JSON.stringify(['é'.repeat(50), long('é'), 7])),
    ) as LiftedValue[];
    expect([short, lifted, number].map((value) => liftedText(value, 20))).toEqual([
      'é'.repeat(20),
      'é'.repeat(20),
      null,
    ]);
  });
});

describe('Base64', () => {
  it('any bytes survive encoding and decoding', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), (array) => {
        const bytes = Buffer.from(array);
        const base64 = encodeBase64(bytes);
        expect(decodeBase64(base64)).toEqual(bytes);
        expect(isJsonSafe(base64)).toBe(true);
      }),
    );
  });

  it.each(['', 'QQ', 'QQ=', 'Q===', 'QU JD', 'QUJ\n', 'QU*D', 'QU-_', '====', 'QQ==QUJD', 'QUJDé'])(
    'refuses “%s”',
    (text) => {
      expect(decodeBase64(Buffer.from(text))).toBeNull();
    },
  );

  it('a string is safe within JSON exactly where it needs no escape and is ASCII', () => {
    const unit = fc.oneof(
      fc.constantFrom('"', '\\', '\n', '\u001f', ' ', '\u007f', 'é', 'A'),
      fc.string({ minLength: 1, maxLength: 1 }),
    );
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 40 }), fc.nat(3), (units, offset) => {
        const text = units.join('');
        const padded = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]).subarray(offset);
        const isAscii = [...text].every((character) => character.charCodeAt(0) < 0x80);
        expect(isJsonSafe(padded)).toBe(isAscii && JSON.stringify(text) === `"${text}"`);
      }),
      { numRuns: 500 },
    );
  });
});
