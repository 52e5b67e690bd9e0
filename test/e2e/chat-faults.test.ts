/** Every fault a vendor's answer can have: what the client sees, who else was tried, what is billed. */
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Fault } from '../../simulator/index.ts';
import type { Stack } from '../kit/stack.ts';
import { channelsTried, chatBody, lastRow, payloads, spoken, startChannels, streamError } from './chat-support.ts';

let stack: Stack;
const neverRests = { failures: 1_000_000, first: '1ms', longest: '1ms' };
/** Only the first attempt is spoiled: the second channel answers well. */
const spoil = (fault: Fault, times = 1) =>
  stack.simulator.faults.add({ match: { vendor: 'openai', path: '/chat/', times }, fault });

beforeAll(async () => {
  stack = await startChannels({
    first: { priority: 2, cooldown: neverRests, timeouts: { firstByte: '400ms', idle: '400ms' } },
    second: { priority: 1, cooldown: neverRests },
  });
});
afterEach(() => stack.simulator.reset());
afterAll(() => stack.close());

const answerOf = 'You said: hi – Grüße aus 東京 🙂';
const ask = (fields: object = {}) => stack.post('/chat/completions', chatBody('hi', fields));

/** A whole answer of the second channel, and nobody noticed. */
const healed = {
  tried: ['first', 'second'],
  row: { outcome: 'ok', status: 200, attempts: 2, usageSource: 'measured' },
};
const unspoiled = { tried: ['first'], row: { outcome: 'ok', status: 200, attempts: 1, usageSource: 'measured' } };

describe('4.4 faults of a stream', () => {
  it.each<[string, Fault, typeof healed]>([
    ['cut before the first event', { cut: 0 }, healed],
    ['cut within the first event', { cutbody: 20 }, healed],
    ['silent before the first event', { stall: 0 }, healed],
    ['reset', { reset: 'read' }, healed],
    ['first event is no JSON', { malformed: 0 }, healed],
    ['an error as the first event', { errorframe: 0 }, healed],
    ['an error body with status 200', { error200: true }, healed],
    ['200 without a body', { empty200: true }, healed],
    ['an HTML page', { wrongtype: true }, healed],
    ['a head that never comes', { latency: 60_000 }, healed],
    ['CRLF line ends', { crlf: true }, unspoiled],
    ['no [DONE]', { nodone: true }, unspoiled],
    ['a huge first line', { hugeline: 3_000_000 }, unspoiled],
    ['a trickle of 40 bytes', { trickle: 40, delay: 1 }, unspoiled],
    ...[1, 2, 3, 4, 5, 6, 7].map((size): [string, Fault, typeof healed] => [
      `cut up into writes of ${size} bytes`,
      { split: size },
      unspoiled,
    ]),
    ['cut up with CRLF', { split: 3, crlf: true }, unspoiled],
  ])('4.4 %s: the client gets the whole answer', async (_name, fault, expected) => {
    spoil(fault);
    const response = await ask({ stream: true });
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(spoken(text)).toBe(answerOf);
    expect(text.match(/\[DONE\]/g)).toHaveLength(1);
    expect(payloads(text).at(-1)).toBe('[DONE]');
    expect(text).not.toContain('"usage":{');
    expect(channelsTried(stack)).toEqual(expected.tried);
    expect(await lastRow(stack)).toMatchObject({ ...expected.row, inputTokens: 5, outputTokens: 8, code: null });
  });

  it.each<[string, Fault, object]>([
    ['cut after the first event', { cut: 1 }, { code: 'upstream_unreachable', outputTokens: 1 }],
    ['cut in the middle', { cut: 4 }, { code: 'upstream_unreachable', outputTokens: 4 }],
    ['cut within an event', { cutbody: 700 }, { code: 'upstream_unreachable' }],
    ['silent in the middle', { stall: 3 }, { code: 'upstream_timeout', outputTokens: 3 }],
    ['an error event in the middle', { errorframe: 3 }, { code: 'upstream_error', outputTokens: 3 }],
    ['a length that is too short', { length: 'shorter', cutbody: 900 }, {}],
  ])(
    '4.4 %s: an error within the stream, no [DONE], no other channel, what was said is billed',
    async (_name, fault, row) => {
      spoil(fault);
      const response = await ask({ stream: true });
      expect(response.status).toBe(200);
      const text = await response.text();
      expect(text).not.toContain('[DONE]');
      const error = streamError(text);
      expect(error).toMatchObject({ message: expect.stringContaining('request id'), type: expect.any(String) });
      for (const payload of payloads(text)) expect(() => JSON.parse(payload)).not.toThrow();
      expect(answerOf.startsWith(spoken(text))).toBe(true);
      expect(channelsTried(stack)).toEqual(['first']);
      const last = await lastRow(stack);
      expect(last).toMatchObject({ outcome: 'error', status: 200, attempts: 1, usageSource: 'estimated', ...row });
      expect(last.code).toBe(error?.code);
      expect(last.inputTokens).toBeGreaterThan(0);
      expect(last.quota).toBeGreaterThan(0);
    },
  );

  it('4.4 the official SDK throws at a broken stream instead of taking it for whole', async () => {
    const client = new OpenAI({ baseURL: stack.base, apiKey: stack.key, maxRetries: 0 });
    spoil({ cut: 3 });
    const stream = await client.chat.completions.create({
      model: 'demo-chat',
      stream: true,
      messages: [{ role: 'user', content: 'hi' }],
    });
    let pieces = 0;
    const read = async () => {
      for await (const piece of stream) pieces += piece.choices.length;
    };
    await expect(read()).rejects.toMatchObject({ code: 'upstream_unreachable' });
    expect(pieces).toBe(3);
  });

  it('4.4 a length that is too long cuts a stream: its end came, then the error', async () => {
    spoil({ length: 'longer' });
    const text = await (await ask({ stream: true })).text();
    // The closing marker of the vendor was there: nothing is missing.
    expect(spoken(text)).toBe(answerOf);
    expect(payloads(text).at(-1)).toBe('[DONE]');
    expect(await lastRow(stack)).toMatchObject({ outcome: 'ok', usageSource: 'measured' });
  });

  it('4.4 a length that is too short loses the end after the finish: whole, its usage measured or estimated', async () => {
    spoil({ length: 'shorter' });
    const text = await (await ask({ stream: true })).text();
    expect(spoken(text)).toBe(answerOf);
    expect(payloads(text).at(-1)).toBe('[DONE]');
    expect(await lastRow(stack)).toMatchObject({ outcome: 'ok', usageSource: 'estimated' });
  });

  it('4.4 an event in the middle that is no JSON passes as it came: the relay does not read what it passes', async () => {
    spoil({ malformed: 3 });
    const text = await (await ask({ stream: true })).text();
    expect(payloads(text).filter((one) => one.startsWith('{') && !one.endsWith('}'))).toHaveLength(1);
    expect(channelsTried(stack)).toEqual(['first']);
    expect(await lastRow(stack)).toMatchObject({ outcome: 'ok', usageSource: 'measured' });
  });

  it('2.9 without usage from the vendor the row is estimated', async () => {
    spoil({ nousage: true }, 2);
    await (await ask({ stream: true })).text();
    const streamed = await lastRow(stack);
    expect(streamed).toMatchObject({ outcome: 'ok', usageSource: 'estimated', outputTokens: 10 });
    expect(streamed.inputTokens).toBe(Math.ceil(JSON.stringify(chatBody('hi', { stream: true })).length / 4));
    await (await ask()).text();
    expect(await lastRow(stack)).toMatchObject({
      outcome: 'ok',
      usageSource: 'estimated',
      outputTokens: Math.ceil(answerOf.length / 4),
    });
  });

  it('4.4 every channel broken before its first event: one error with a status of its own', async () => {
    spoil({ errorframe: 0 }, 2);
    const response = await ask({ stream: true });
    expect(response.status).toBe(502);
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(channelsTried(stack)).toEqual(['first', 'second']);
    expect(await lastRow(stack)).toMatchObject({ outcome: 'error', status: 502, quota: 0, attempts: 2 });
  });
});

describe('4.4 faults of a whole answer', () => {
  it.each<[string, Fault]>([
    ['cut', { cut: 0 }],
    ['cut after 50 bytes', { cutbody: 50 }],
    ['reset', { reset: 'read' }],
    ['silent', { stall: 0 }],
    ['no JSON', { malformed: 0 }],
    ['an error body with status 200', { error200: true }],
    ['200 without a body', { empty200: true }],
    ['an HTML page', { wrongtype: true }],
    ['too late', { latency: 60_000 }],
    ['a length that is too long', { length: 'longer' }],
    ['a length that is too short', { length: 'shorter' }],
  ])('4.4 %s: the next channel answers', async (_name, fault) => {
    spoil(fault);
    const response = await ask();
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: answerOf } }] });
    expect(channelsTried(stack)).toEqual(['first', 'second']);
    expect(await lastRow(stack)).toMatchObject({ ...healed.row, inputTokens: 5, outputTokens: 8 });
  });

  it.each<[string, Fault]>([
    ['a trickle', { trickle: 30, delay: 1 }],
    ['pieces', { split: 7 }],
    ['blanks', { hugeline: 2_000_000 }],
  ])('4.4 %s: one attempt is enough', async (_name, fault) => {
    spoil(fault);
    const response = await ask();
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: answerOf } }] });
    expect(await lastRow(stack)).toMatchObject(unspoiled.row);
  });
});

describe('7 the audit after all this', () => {
  it('8 holds: nothing is held, balance = credits − usage', async () => {
    await stack.usage();
    expect(await stack.gateway.ledger.accounts.audit()).toMatchObject({ ok: true });
  });
});
