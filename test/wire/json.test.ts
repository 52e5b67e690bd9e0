import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rewriteMembers } from '../../engine/wire/json.ts';

const rewrite = (text: string, changes: Record<string, string | null>) =>
  rewriteMembers(Buffer.from(text), new Map(Object.entries(changes))).toString();

describe('rewriteMembers', () => {
  it('4.4 replaces the model and leaves every other byte as it came', () => {
    expect(rewrite('{ "messages" : [{"model":"x"}],\n "model" :\t"a" , "n": 1.50 }', { model: '"b"' })).toBe(
      '{ "messages" : [{"model":"x"}],\n "model" :\t"b" , "n": 1.50 }',
    );
  });
  it('replaces every occurrence of a doubled key, also one written with escapes', () => {
    expect(rewrite('{"model":"a","mod\\u0065l":"b"}', { model: '"c"' })).toBe('{"model":"c","mod\\u0065l":"c"}');
  });
  it('adds what is missing, also to an empty object', () => {
    expect(rewrite('{}', { a: '1', b: '2' })).toBe('{"a":1,"b":2}');
    expect(rewrite('{"x":"}\\"" }', { a: '1' })).toBe('{"x":"}\\"" ,"a":1}');
  });
  it('takes members out wherever they stand', () => {
    expect(rewrite('{"a":1,"b":[2,{"a":3}],"c":4}', { a: null, c: null, z: null })).toBe('{"b":[2,{"a":3}]}');
  });
  it('answers the same Buffer when nothing changes', () => {
    const bytes = Buffer.from('{"a":1}');
    expect(rewriteMembers(bytes, new Map([['z', null]]))).toBe(bytes);
  });
  it('comes to an end whatever the bytes are, also where a text is cut', () => {
    const change = new Map([['model', '"other"']]);
    const whole = Buffer.from('{"a":{"b":["\\\\\\""]},"model":"x"}');
    const comesToAnEnd = (bytes: Buffer) => {
      try {
        expect(Buffer.isBuffer(rewriteMembers(bytes, change))).toBe(true);
      } catch (error) {
        // A key with a bad escape.
        expect(error).toBeInstanceOf(SyntaxError);
      }
    };
    for (let length = 0; length <= whole.length; length++) comesToAnEnd(whole.subarray(0, length));
    const letters = fc.constantFrom(...'{}[]",:\\ am1').map((letter) => letter.charCodeAt(0));
    fc.assert(fc.property(fc.array(letters, { maxLength: 40 }), (bytes) => comesToAnEnd(Buffer.from(bytes))));
  });
  it('agrees with JSON.parse for any object, indented or not', () => {
    const object = fc.dictionary(fc.oneof(fc.constantFrom('model', 'stream'), fc.string()), fc.jsonValue());
    fc.assert(
      fc.property(object, fc.constantFrom(0, 2), fc.jsonValue(), (value, indent, model) => {
        const clean = JSON.parse(JSON.stringify(value));
        const changes = new Map<string, string | null>([
          ['model', JSON.stringify(model)],
          ['stream', null],
        ]);
        const result = JSON.parse(rewriteMembers(Buffer.from(JSON.stringify(clean, null, indent)), changes).toString());
        const { stream: _stream, ...rest } = clean;
        expect(result).toEqual({ ...rest, model: JSON.parse(JSON.stringify(model)) });
      }),
    );
  });
});
