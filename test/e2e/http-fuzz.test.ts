import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { chatHead, expectAtRest, openRaw } from './http-raw.ts';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    edit: (documents) => {
      documents.gateway.body = { receiveTimeout: '500ms' };
    },
  });
});
afterAll(() => stack.close());

/** The same numbers in every run (mulberry32). */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function requestOf(random: (below: number) => number): Buffer {
  const stream = random(2) === 0;
  const content = `Hello ${'ä'.repeat(random(50))}[chunks=${random(30)}][delay=${random(3)}]`;
  const body = Buffer.from(JSON.stringify({ model: 'demo-chat', stream, messages: [{ role: 'user', content }] }));
  const lines = [`content-length: ${body.length}`];
  if (random(3) === 0) lines.push(`idempotency-key: fuzz-${random(20)}`);
  return Buffer.concat([Buffer.from(chatHead(stack, lines)), body]);
}

/** Flips, cuts, doubles and repeats: at the most three of them, often none. */
function mutate(bytes: Buffer, random: (below: number) => number): Buffer {
  let mutated = Buffer.from(bytes);
  for (let left = random(4); left > 0; left--) {
    const at = random(mutated.length);
    const end = Math.min(mutated.length, at + random(20));
    const changes = [
      () => mutated.fill(random(256), at, at + 1),
      () => Buffer.concat([mutated.subarray(0, at), mutated.subarray(end)]),
      () => Buffer.concat([mutated.subarray(0, end), mutated.subarray(at)]),
      () => mutated.subarray(0, at),
    ];
    mutated = Buffer.from(changes[random(changes.length)]!());
    if (mutated.length === 0) return mutated;
  }
  return mutated;
}

async function sendOne(random: (below: number) => number): Promise<void> {
  const bytes = mutate(requestOf(random), random);
  const connection = await openRaw(stack.base);
  for (let at = 0; at < bytes.length; ) {
    const size = random(4) === 0 ? 1 + random(60) : bytes.length;
    connection.send(bytes.subarray(at, at + size));
    at += size;
    if (size < bytes.length) await delay(random(3));
  }
  await connection.until(/\[DONE\]|"usage"|"error"/, random(2) === 0 ? random(40) : 300);
  const text = connection.text();
  connection.close();
  expect(text === '' || /^HTTP\/1\.1 \d{3} /.test(text)).toBe(true);
  expect(text).not.toContain('internal_error');
  expect(text).not.toContain('HTTP/1.1 500');
}

it.each([1, 2, 3])('C mutated requests, cut and left at random (seed %i): all is at rest afterwards', async (seed) => {
  const random = createRandom(seed);
  let left = 400;
  const worker = async () => {
    while (left-- > 0) await sendOne(random);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  await expectAtRest(stack);
  const response = await stack.post('/chat/completions', {
    model: 'demo-chat',
    messages: [{ role: 'user', content: 'x' }],
  });
  expect(response.status).toBe(200);
});

it('C one Idempotency-Key and many clients that come and go: one answer, and what is owed is owed once', async () => {
  const random = createRandom(7);
  const body = JSON.stringify({
    model: 'demo-chat',
    stream: true,
    messages: [{ role: 'user', content: 'Hello [chunks=10][delay=3]' }],
  });
  const answers = new Set<string>();
  const one = async () => {
    const response = await fetch(`${stack.base}/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${stack.key}`,
        'content-type': 'application/json',
        'idempotency-key': 'shared',
      },
      body,
      ...(random(3) > 0 ? { signal: AbortSignal.timeout(random(60)) } : {}),
    });
    answers.add(await response.text());
  };
  const results = await Promise.allSettled(Array.from({ length: 80 }, async () => delay(random(100)).then(one)));
  for (const result of results)
    if (result.status === 'rejected') expect(String(result.reason)).toMatch(/TimeoutError|aborted/);
  expect(answers.size).toBe(1);
  expect([...answers][0]?.endsWith('data: [DONE]\n\n')).toBe(true);
  await expectAtRest(stack);
  await one();
  expect(answers.size).toBe(1);
});
