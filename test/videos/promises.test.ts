/** What a vendor may rely on, seen from its side. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../engine/ledger/sqlite.ts';
import type { Stack } from '../kit/stack.ts';
import { available, create, ended, startVideoStack } from './support.ts';
import { json, type OwnVendor, smallMp4, startVendor } from './vendor.ts';

async function veoStack(vendor: OwnVendor): Promise<Stack> {
  onTestFinished(() => vendor.close());
  const stack = await startVideoStack({
    edit: ({ channels }) => {
      channels.channels['simulated-gemini'].baseUrl = `${vendor.origin}/v1beta`;
    },
  });
  onTestFinished(() => stack.close());
  return stack;
}

const name = 'models/veo/operations/op1';
const finished = (origin: string) => ({
  name,
  done: true,
  response: { generateVideoResponse: { generatedSamples: [{ video: { uri: `${origin}/file` } }] } },
});

it('4.1 POST /v1/videos: the row of the task and its hold are there before the vendor is asked and the client answered', async () => {
  const seen: unknown[] = [];
  let stack: Stack | null = null;
  let isAnswered = false;
  const look = async () => {
    const open = await stack!.gateway.ledger.tasks.open();
    seen.push(
      open.map(({ held }) => held),
      await available(stack!),
      isAnswered,
    );
  };
  const vendor = await startVendor((request, response, origin) => {
    if (request.method === 'POST') void look().then(() => json(response, { name }));
    else if (request.url!.includes('operations')) json(response, finished(origin));
    else response.writeHead(200, { 'content-type': 'video/mp4' }).end(smallMp4());
  });
  stack = await veoStack(vendor);
  const before = await available(stack);
  const { body } = await create(stack, { model: 'demo-video-veo' });
  isAnswered = true;
  const held = 8 * 200_000;
  expect(seen).toEqual([[held], before - held, false]);
  expect((await ended(stack, body.id)).metadata.storage.status).toBe('ready');
});

it('4.1 POST /v1/videos: no vendor is asked while the row cannot be written', async () => {
  const vendor = await startVendor((request, response, origin) => {
    if (request.method === 'POST') json(response, { name });
    else if (request.url!.includes('operations')) json(response, finished(origin));
    else response.writeHead(200, { 'content-type': 'video/mp4' }).end(smallMp4());
  });
  const stack = await veoStack(vendor);
  const database = await openDatabase(join(stack.data, 'gateway.db'), { busyTimeout: 5000, autoCheckpoint: 1000 });
  onTestFinished(() => database.close());
  const answer = await database.query.transaction().execute(async () => {
    const creating = create(stack, { model: 'demo-video-veo' });
    await delay(400);
    expect(vendor.received).toEqual([]);
    return { creating };
  });
  const { status, body } = await answer.creating;
  expect(status).toBe(200);
  expect((await ended(stack, body.id)).metadata.storage.status).toBe('ready');
});

it('4.1 GET /v1/videos/{id}: a vendor that fails again and again is asked less and less often', async () => {
  const polls: number[] = [];
  const vendor = await startVendor((request, response, origin) => {
    if (request.method === 'POST') return json(response, { name });
    if (!request.url!.includes('operations'))
      return response.writeHead(200, { 'content-type': 'video/mp4' }).end(smallMp4());
    polls.push(performance.now());
    if (polls.length < 6) json(response, { error: { code: 500, message: 'Later', status: 'INTERNAL' } }, 500);
    else json(response, finished(origin));
  });
  const stack = await veoStack(vendor);
  const { body } = await create(stack, { model: 'demo-video-veo' });
  expect((await ended(stack, body.id)).status).toBe('completed');
  // 20 ms after the first failure, doubled with each; the clock of the database has whole milliseconds.
  const waits = polls.slice(1).map((time, index) => time - polls[index]!);
  for (const [index, wait] of waits.entries()) expect(wait, `pause ${index + 1}`).toBeGreaterThan(20 * 2 ** index - 2);
  await delay(100);
  expect(polls).toHaveLength(6);
});
