/** However the network cuts a stream up, the client gets the same bytes and the same bill. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { UsageRow } from '../../engine/contract/usage.ts';
import type { Stack } from '../kit/stack.ts';
import {
  chatBody,
  chunk,
  done,
  lastRow,
  type ScriptedVendor,
  startChannels,
  startVendor,
  usageChunk,
} from './chat-support.ts';

let stack: Stack;
let vendor: ScriptedVendor;
let pieces: readonly Buffer[] = [];

beforeAll(async () => {
  vendor = await startVendor((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let next = 0;
    const push = (): void => {
      if (next === pieces.length) response.end();
      else {
        response.write(pieces[next++]);
        setImmediate(push);
      }
    };
    push();
  });
  const cooldown = { failures: 1_000_000, first: '1ms', longest: '1ms' };
  stack = await startChannels({ only: { baseUrl: vendor.baseUrl, cooldown } });
});
afterAll(async () => {
  await stack.close();
  await vendor.close();
});

type Bill = Pick<UsageRow, 'inputTokens' | 'outputTokens' | 'usageSource' | 'outcome' | 'status' | 'code' | 'quota'>;

async function run(parts: readonly Buffer[], wantsUsage: boolean): Promise<{ text: string; bill: Bill }> {
  pieces = parts;
  const options = wantsUsage ? { stream_options: { include_usage: true } } : {};
  const response = await stack.post('/chat/completions', chatBody('hi', { stream: true, ...options }));
  // A superfluous blank line goes with the frame before it or with the one behind, which may be hidden.
  const text = (await response.text())
    .replaceAll(/req_\w+/g, 'req')
    .replaceAll(/(\r?\n){3,}/g, '\n\n')
    .replaceAll(/\r\n\r\n/g, '\n\n');
  const { inputTokens, outputTokens, usageSource, outcome, status, code, quota } = await lastRow(stack);
  return { text, bill: { inputTokens, outputTokens, usageSource, outcome, status, code, quota } };
}

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [...new Set(places.map((place) => place % bytes.length))]
    .filter((place) => place > 0)
    .sort((a, b) => a - b);
  return [...at, bytes.length].map((end, index) => bytes.subarray(at[index - 1] ?? 0, end));
}

const frame = fc.oneof(
  { weight: 5, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => chunk(text)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('"usage":{', '[DONE]', '"error":1', '\n\n', 'data: x').map((text) => chunk(text)),
  },
  { weight: 1, arbitrary: fc.constant(': keep-alive\n\n') },
  { weight: 1, arbitrary: fc.constant('\n') },
  { weight: 1, arbitrary: fc.constant(`id: 4\nevent: message\n${chunk('named')}`) },
);
// No error event: one that comes together with the first event is a failed attempt, a later one ends the stream.
const closings = [
  chunk('', 'stop') + usageChunk(9, 4) + done,
  chunk('', 'stop') + done,
  chunk('', 'stop') + usageChunk(9, 4),
  chunk('', 'length') + usageChunk(9, 4).slice(0, 90),
  `${usageChunk(9, 4)}data: {"choices"`,
  '',
];
const stream = fc
  .tuple(fc.array(frame, { maxLength: 6 }), fc.constantFrom(...closings), fc.boolean())
  .map(([frames, closing, windows]) => {
    const text = frames.join('') + closing;
    return Buffer.from(windows ? text.replaceAll('\n', '\r\n') : text);
  })
  .filter((bytes) => bytes.length > 0);

describe('6.2 a stream cut up anywhere', () => {
  it('6.2 gives the same client bytes and the same usage row', async () => {
    await fc.assert(
      fc.asyncProperty(
        stream,
        fc.oneof(
          fc.array(fc.nat(), { minLength: 1, maxLength: 12 }),
          fc.constant(Array.from({ length: 400 }, (_, at) => at)),
        ),
        fc.boolean(),
        async (bytes, places, wantsUsage) => {
          const whole = await run([bytes], wantsUsage);
          expect(await run(cut(bytes, places), wantsUsage)).toEqual(whole);
        },
      ),
      { numRuns: 150 },
    );
  }, 120_000);
});
