import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OpenAiTap } from '../../engine/wire/openai/tap.ts';

const chunk = (members: object): string =>
  JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1790000000, model: 'm', ...members });
const delta = (text: string, reason: string | null = null) => ({
  choices: [{ index: 0, delta: { content: text }, logprobs: null, finish_reason: reason }],
});
const usage = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13, prompt_tokens_details: { cached_tokens: 2 } };
const read = { input: 9, cachedInput: 2, cacheWrite: 0, output: 4, reasoning: 0 };
const usageChunk = chunk({ choices: [], usage });

/** Cuts `bytes` at the given places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...sorted].map((from, index) => bytes.subarray(from, sorted[index] ?? bytes.length));
}

function run(tap: OpenAiTap, pieces: readonly Buffer[]): string {
  const out = pieces.map((piece) => tap.push(piece) ?? Buffer.alloc(0));
  return Buffer.concat([...out, tap.flush() ?? Buffer.alloc(0)]).toString('utf8');
}

const frames = (payloads: readonly string[], end = '\n') => payloads.map((one) => `data: ${one}${end}${end}`).join('');
const whole = (tap: OpenAiTap, text: string) => run(tap, [Buffer.from(text)]);

/** Text that tries to look like what the tap looks for. */
const words = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom(
    '[DONE]',
    'data: [DONE]',
    '"usage":{"prompt_tokens":1}',
    '"error":{"message":"x"}',
    '\n\ndata: [DONE]\n\n',
  ),
);
const stream = fc.record({
  end: fc.constantFrom('\n', '\r\n'),
  texts: fc.array(words, { minLength: 1, maxLength: 8 }),
  nullUsage: fc.boolean(),
  comments: fc.boolean(),
  done: fc.boolean(),
  asked: fc.boolean(),
});

describe('the tap of a relayed stream', () => {
  it('6.2 passes the same bytes for any split, but for the usage nobody asked for and the marker', () => {
    fc.assert(
      fc.property(
        stream,
        fc.array(fc.nat(4000), { maxLength: 40 }),
        ({ end, texts, nullUsage, comments, done, asked }, places) => {
          const extra = nullUsage ? { usage: null } : {};
          const said = [...texts.map((text) => delta(text)), delta('', 'stop')].map((one) =>
            chunk({ ...one, ...extra }),
          );
          const content = `${comments ? `: ping${end}${end}` : ''}${frames(said, end)}`;
          const tail = frames([usageChunk], end);
          const sent = content + tail + (done ? frames(['[DONE]'], end) : '');
          const tap = new OpenAiTap(!asked);
          expect(run(tap, cut(Buffer.from(sent), places))).toBe(asked ? content + tail : content);
          expect(tap.usage).toEqual(read);
          expect(tap.error).toBeNull();
          expect(tap.finished).toBe(done);
          expect(tap.complete).toBe(true);
          expect(tap.estimatedOutput).toBe(texts.length + 1);
        },
      ),
      { numRuns: 400 },
    );
  });

  it('6.2 hands on the very Buffer where nothing is hidden, and keeps no complete frame back', () => {
    const tap = new OpenAiTap(true);
    for (const text of ['one', 'two', 'three']) {
      const bytes = Buffer.from(frames([chunk(delta(text))]));
      expect(tap.push(bytes)).toBe(bytes);
    }
    expect(tap.begun).toBe(true);
    expect(tap.complete).toBe(false);
    expect(tap.flush()).toBeNull();
  });

  it.each([
    ['a space behind the colon', `${usageChunk.replace('"usage":{', '"usage": {')}`],
    ['spaces on both sides', `${usageChunk.replace('"usage":{', '"usage" : {')}`],
    ['no choices member', chunk({ usage })],
    ['choices that are null', chunk({ choices: null, usage })],
  ])('6.2 usage with %s is read and hidden', (_name, payload) => {
    const tap = new OpenAiTap(true);
    const content = frames([chunk(delta('a', 'stop'))]);
    expect(whole(tap, content + frames([payload, '[DONE]']))).toBe(content);
    expect(tap.usage).toEqual(read);
  });

  it('6.2 usage within the last content chunk is read, and the chunk stays', () => {
    const content = frames([chunk(delta('a')), chunk({ ...delta('b', 'stop'), usage })]);
    const tap = new OpenAiTap(true);
    expect(whole(tap, `${content}data: [DONE]\n\n`)).toBe(content);
    expect(tap.usage).toEqual(read);
  });

  it('6.2 the last of several usage reports counts', () => {
    const earlier = { ...usage, completion_tokens: 1 };
    const tap = new OpenAiTap(true);
    whole(tap, frames([chunk({ ...delta('a'), usage: earlier }), chunk({ ...delta('b', 'stop'), usage }), '[DONE]']));
    expect(tap.usage).toEqual(read);
  });

  it.each([
    ['without a space', 'data:[DONE]\n\n'],
    ['with a comment behind it', 'data: [DONE]\n\n: bye\n\n'],
    ['with an event name', 'event: done\ndata: [DONE]\n\n'],
    ['without a blank line', 'data: [DONE]'],
    ['with mixed line ends', 'data: [DONE]\n\r\n'],
    ['with more behind it', `data: [DONE]\n\ndata: ${chunk(delta('late'))}\n\n`],
  ])('6.2 the marker %s is kept back, and nothing follows it', (_name, marker) => {
    const content = frames([chunk(delta('a', 'stop'))]);
    for (const pieces of [[content + marker], [content, marker], [...(content + marker)]]) {
      const tap = new OpenAiTap(true);
      expect(
        run(
          tap,
          pieces.map((piece) => Buffer.from(piece)),
        ),
      ).toBe(content);
      expect(tap.finished).toBe(true);
      expect(tap.push(Buffer.from(content))).toBeNull();
    }
  });

  it.each([
    ['first', ''],
    ['behind content', frames([chunk(delta('a')), chunk(delta('b'))])],
  ])('4.4 an error frame %s is found, and none of its words go out', (_name, before) => {
    for (const payload of [
      '{"error":{"message":"overloaded","type":"server_error","param":null,"code":"busy"}}',
      '{ "error" : {"message":"overloaded","type":"server_error","code":"busy"}}',
      chunk({ error: { message: 'overloaded', type: 'server_error', code: 'busy' }, choices: [] }),
    ]) {
      for (const end of ['\n', '\r\n']) {
        const content = before.replaceAll('\n', end);
        const tap = new OpenAiTap(false);
        expect(whole(tap, `${content}data: ${payload}${end}${end}${content}`)).toBe(content);
        expect(tap.error).toEqual({
          message: 'overloaded',
          code: 'busy',
          type: 'server_error',
          param: null,
          retryAfter: null,
        });
        expect(tap.push(Buffer.from(frames(['x'])))).toBeNull();
      }
    }
  });

  it('4.4 an error by the name of its event is found, whatever its data', () => {
    const tap = new OpenAiTap(false);
    const content = frames([chunk(delta('a'))]);
    expect(whole(tap, `${content}event: error\ndata: {"message":"gone"}\n\n`)).toBe(content);
    expect(tap.error?.message).toBe('{"message":"gone"}');
  });

  it('an `error` that is null is none', () => {
    const tap = new OpenAiTap(false);
    const content = frames([chunk({ ...delta('a'), error: null }), chunk({ ...delta('', 'stop'), error: null })]);
    expect(whole(tap, content)).toBe(content);
    expect(tap.error).toBeNull();
  });

  it('a first event that is no JSON is an error', () => {
    const tap = new OpenAiTap(false);
    expect(whole(tap, 'data: <html>busy</html>\n\n')).toBe('');
    expect(tap.error?.message).toBe('an event of the stream is not JSON');
  });

  it('comments are no beginning and cost nothing', () => {
    const tap = new OpenAiTap(true);
    expect(tap.push(Buffer.from(': wait\n\n'))?.toString()).toBe(': wait\n\n');
    expect(tap.begun).toBe(false);
    tap.push(Buffer.from(`: wait\n\n${frames([chunk(delta('a'))])}: wait\n\n`));
    tap.push(Buffer.from(': wait\n\n'));
    expect(tap.begun).toBe(true);
    expect(tap.estimatedOutput).toBe(1);
  });

  it('a stream cut before a finish reason is not complete; empty finish words do not count', () => {
    const tap = new OpenAiTap(true);
    whole(tap, frames([chunk(delta('a', '')), chunk(delta('b'))]));
    expect(tap.complete).toBe(false);
    expect(tap.finished).toBe(false);
  });

  it('usage that is no usage is passed over', () => {
    for (const odd of [{}, { prompt_tokens: 'x' }, [], 7, { usage }]) {
      const tap = new OpenAiTap(true);
      const content = frames([chunk({ ...delta('a', 'stop'), usage: odd }), chunk({ choices: [], usage: odd })]);
      expect(whole(tap, content)).toBe(content);
      expect(tap.usage).toBeNull();
    }
  });

  it('hostile bytes never throw and never loop', () => {
    const bits = fc.constantFrom(
      'data: ',
      '{',
      '}',
      '"usage":{',
      '"error":1',
      '[DONE]',
      '\n',
      '\r',
      '\n\n',
      'event: error',
      ':',
      'é',
      '\u0000',
    );
    fc.assert(
      fc.property(fc.array(bits, { maxLength: 40 }), fc.array(fc.nat(300)), (parts, places) => {
        const bytes = Buffer.from(parts.join(''));
        const tap = new OpenAiTap(true);
        expect(run(tap, cut(bytes, places)).length).toBeLessThanOrEqual(bytes.length + 2);
      }),
      { numRuns: 1000 },
    );
  });
});
