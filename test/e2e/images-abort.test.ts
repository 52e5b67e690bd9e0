/** Clients that leave, and clients that ask twice: what is asked of the vendor, stored and charged (spec 7, 8). */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import {
  edit,
  eventsOf,
  eventually,
  expectAudit,
  expectError,
  formOf,
  generate,
  jsonOf,
  namesOf,
  png,
  sendForm,
  stored,
} from './images-kit.ts';

let stack: Stack;
const policies = ['cancel', 'drain', 'finish'] as const;

/** Alpha cancels, beta drains, gamma finishes; and an alpha model for each policy. */
beforeAll(async () => {
  stack = await startStack({
    edit({ channels, models }) {
      const [alpha, gamma] = [channels.channels['simulated-openai'], channels.channels['simulated-xai']];
      for (const onAbort of policies) {
        models.models[`alpha-${onAbort}`] = models.models['alpha-image-1k'];
        models.models[`gamma-${onAbort}`] = models.models['gamma-imagine-image'];
        channels.channels[`openai-${onAbort}`] = { ...alpha, onAbort, models: { [`alpha-${onAbort}`]: 'gpt-image-2' } };
        channels.channels[`xai-${onAbort}`] = {
          ...gamma,
          onAbort,
          models: { [`gamma-${onAbort}`]: 'grok-imagine-image' },
        };
      }
    },
  });
});
afterEach(() => stack.simulator.reset());
afterAll(async () => {
  await expectAudit(stack);
  await stack.close();
});

const idle = () =>
  eventually(
    () => stack.gateway.snapshot.active,
    (active) => active === 0,
  );
const latest = async () => (await stack.usage())[0]!;
const objects = async () => {
  const names = await readdir(join(stack.data, 'objects'), { recursive: true });
  return names.filter((name) => /\.(png|jpg)$/.test(name)).length;
};

/** Leaves as soon as the vendor has the request. */
async function leave(body: object, headers: Record<string, string> = {}): Promise<void> {
  const controller = new AbortController();
  const answer = fetch(`${stack.base}/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ prompt: 'a fox', ...body }),
    signal: controller.signal,
  }).then((response) => response.text());
  await eventually(
    () => stack.simulator.received.length,
    (count) => count > 0,
  );
  controller.abort();
  await expect(answer).rejects.toThrow();
  await idle();
}

describe('a client that leaves while the vendor works', () => {
  it.each(['alpha-cancel', 'gamma-cancel'])(
    '%s: the vendor is cut off at once, nothing is stored or charged',
    async (model) => {
      const before = await objects();
      stack.simulator.faults.add({ fault: { latency: 3000 } });
      const started = Date.now();
      await leave({ model, n: 2 });
      expect(Date.now() - started).toBeLessThan(2000);
      await eventually(
        () => stack.simulator.received[0]!.aborted,
        (aborted) => aborted,
      );
      expect(stack.simulator.received[0]!.aborted).toBe(true);
      expect(await latest()).toMatchObject({ outcome: 'aborted', status: 499, images: 0, quota: 0, attempts: 1 });
      expect(await objects()).toBe(before);
    },
  );

  it.each([
    ['alpha-drain', 100_000],
    ['gamma-drain', 25_000],
  ])('%s: the answer is read for what it costs, and not stored', async (model, each) => {
    const before = await objects();
    stack.simulator.faults.add({ fault: { latency: 300 } });
    await leave({ model, n: 2 });
    expect(stack.simulator.received[0]!.aborted).toBe(false);
    expect(await latest()).toMatchObject({
      outcome: 'aborted',
      status: 499,
      images: 2,
      quota: 2 * each,
      usageSource: 'measured',
    });
    expect(await objects()).toBe(before);
  });

  it.each([
    ['alpha-finish', 100_000],
    ['gamma-finish', 25_000],
  ])('%s: as if the client were there: stored, charged, and replayed by its Idempotency-Key', async (model, each) => {
    const before = await objects();
    stack.simulator.faults.add({ fault: { latency: 300 } });
    const headers = { 'idempotency-key': `left-${model}` };
    await leave({ model, n: 2 }, headers);
    expect(await latest()).toMatchObject({ outcome: 'aborted', images: 2, quota: 2 * each, usageSource: 'measured' });
    expect(await objects()).toBe(before + 2);
    const again = await generate(stack, { model, n: 2 }, headers);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const reply = await jsonOf(again);
    expect(reply.data).toHaveLength(2);
    for (const { url } of reply.data) await stored(stack, url);
    expect(stack.simulator.received).toHaveLength(1);
  });

  it('a failure after the client has gone is not tried elsewhere and costs nothing', async () => {
    stack.simulator.faults.add({ fault: { latency: 200, status: 500 } });
    await leave({ model: 'alpha-finish' });
    expect(stack.simulator.received).toHaveLength(1);
    expect(await latest()).toMatchObject({ outcome: 'aborted', images: 0, quota: 0 });
  });
});

describe('a client that leaves in a stream', () => {
  /** Reads one event, then leaves. */
  async function leaveAfterFirst(body: object, headers: Record<string, string> = {}): Promise<string> {
    const controller = new AbortController();
    const response = await fetch(`${stack.base}/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ prompt: 'a fox', stream: true, ...body }),
      signal: controller.signal,
    });
    const reader = response.body!.getReader();
    const first = await reader.read();
    controller.abort();
    await idle();
    return Buffer.from(first.value!).toString('latin1');
  }

  it.each([
    ['cancel', 0, 0],
    ['drain', 1, 100_000],
    ['finish', 1, 100_000],
  ])('%s after a preview: %i images charged', async (policy, images, quota) => {
    const before = await objects();
    stack.simulator.faults.add({ fault: { delay: 200 } });
    await leaveAfterFirst({ model: `alpha-${policy}`, partial_images: 2 });
    expect(await latest()).toMatchObject({ outcome: 'aborted', images, quota, usageSource: 'measured' });
    expect(await objects()).toBe(before + (policy === 'finish' ? 1 : 0));
  });

  it('cancel after the first of two images: one is charged', async () => {
    stack.simulator.faults.add({ fault: { delay: 300 } });
    await leaveAfterFirst({ model: 'alpha-cancel', n: 2 });
    expect(await latest()).toMatchObject({ outcome: 'aborted', images: 1, quota: 100_000 });
  });

  it('finish: the whole stream is replayed, the missed events and [DONE] too', async () => {
    stack.simulator.faults.add({ fault: { delay: 200 } });
    const headers = { 'idempotency-key': 'left-stream' };
    await leaveAfterFirst({ model: 'alpha-finish', partial_images: 1 }, headers);
    const again = await generate(stack, { stream: true, model: 'alpha-finish', partial_images: 1 }, headers);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const events = eventsOf(await again.text());
    expect(namesOf(events)).toEqual(['image_generation.partial_image', 'image_generation.completed', '[DONE]']);
    await stored(stack, events[1]!.data.url);
    expect(stack.simulator.received).toHaveLength(1);
  });

  it.each(['cancel', 'drain'])('%s: what broke off is not replayed but made anew', async (policy) => {
    stack.simulator.faults.add({ fault: { delay: 200 } });
    const headers = { 'idempotency-key': `broken-${policy}` };
    const body = { model: `alpha-${policy}`, partial_images: 1 };
    await leaveAfterFirst(body, headers);
    stack.simulator.reset();
    const again = await stack.post('/images/generations', { prompt: 'a fox', stream: true, ...body }, headers);
    expect(again.headers.get('idempotent-replayed')).toBeNull();
    expect(namesOf(eventsOf(await again.text())).at(-1)).toBe('[DONE]');
    expect(stack.simulator.received).toHaveLength(1);
  });
});

describe('Idempotency-Key', () => {
  const balance = async () => {
    await stack.gateway.ledger.flush();
    const users = await stack.gateway.ledger.accounts.listUsers();
    return users.find(({ id }) => id === stack.userId)!.balance;
  };

  it('the same key and body: the same answer, one request at the vendor, one charge', async () => {
    const before = await balance();
    const headers = { 'idempotency-key': 'one' };
    const first = await generate(stack, { model: 'alpha-image-1k' }, headers);
    const second = await generate(stack, { model: 'alpha-image-1k' }, headers);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expect(await second.text()).toBe(await first.text());
    expect(stack.simulator.received).toHaveLength(1);
    expect(await balance()).toBe(before - 100_000);
  });

  it('at the same time: the second joins the first', async () => {
    const before = await balance();
    stack.simulator.faults.add({ fault: { latency: 300 } });
    const headers = { 'idempotency-key': 'joined' };
    const texts = await Promise.all(
      Array.from({ length: 5 }, async () => (await generate(stack, { model: 'gamma-imagine-image' }, headers)).text()),
    );
    expect(new Set(texts).size).toBe(1);
    expect(stack.simulator.received).toHaveLength(1);
    expect(await balance()).toBe(before - 25_000);
  });

  it('one that waited for the first and left does not keep the key when the first fails', async () => {
    const headers = { 'idempotency-key': 'left-waiting' };
    stack.simulator.faults.add({ match: { times: 1 }, fault: { latency: 300, status: 400 } });
    const first = generate(stack, { model: 'alpha-image-1k' }, headers);
    await eventually(
      () => stack.simulator.received.length,
      (count) => count > 0,
    );
    const controller = new AbortController();
    const waiting = fetch(`${stack.base}/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ prompt: 'a fox', model: 'alpha-image-1k' }),
      signal: controller.signal,
    });
    setTimeout(() => controller.abort(), 100);
    await expect(waiting).rejects.toThrow();
    expect((await first).status).toBe(400);
    await idle();
    const third = await Promise.race([
      generate(stack, { model: 'alpha-image-1k' }, headers),
      new Promise<null>((resolve) => setTimeout(() => resolve(null), 3000)),
    ]);
    expect(third?.status).toBe(200);
    expect(third?.headers.get('idempotent-replayed')).toBeNull();
  });

  it('another body with the same key is 409, while it runs and after', async () => {
    const headers = { 'idempotency-key': 'conflict' };
    stack.simulator.faults.add({ fault: { latency: 200 } });
    const running = generate(stack, { model: 'alpha-image-1k' }, headers);
    await eventually(
      () => stack.simulator.received.length,
      (count) => count > 0,
    );
    await expectError(await generate(stack, { model: 'alpha-image-2k' }, headers), 409, 'idempotency_conflict');
    expect((await running).status).toBe(200);
    await expectError(await generate(stack, { model: 'alpha-image-2k' }, headers), 409, 'idempotency_conflict');
  });

  it('a failure is not kept: the next one tries again', async () => {
    const headers = { 'idempotency-key': 'failed' };
    stack.simulator.faults.add({ match: { times: 1 }, fault: { status: 400 } });
    expect((await generate(stack, { model: 'beta-3-pro-image' }, headers)).status).toBe(400);
    expect((await generate(stack, { model: 'beta-3-pro-image' }, headers)).status).toBe(200);
    expect(stack.simulator.received).toHaveLength(2);
  });

  it('a stream is replayed byte by byte', async () => {
    const headers = { 'idempotency-key': 'stream' };
    const body = { model: 'alpha-image-1k', stream: true, partial_images: 1 };
    const first = await (await generate(stack, body, headers)).text();
    const second = await generate(stack, body, headers);
    expect(second.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(await second.text()).toBe(first);
    expect(namesOf(eventsOf(first)).at(-1)).toBe('[DONE]');
    expect(stack.simulator.received).toHaveLength(1);
  });

  it('a form is the same by its fields and files, whatever its boundary', async () => {
    const headers = { 'idempotency-key': 'form' };
    const form = (shade: number, prompt = 'p') =>
      formOf({ model: 'alpha-image-1k', prompt }, [{ field: 'image', bytes: png(shade) }]);
    const first = await sendForm(stack, form(1), headers);
    const second = await sendForm(stack, form(1), headers);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(await second.text()).toBe(await first.text());
    expect(stack.simulator.received).toHaveLength(1);
    await expectError(await sendForm(stack, form(2), headers), 409, 'idempotency_conflict');
    await expectError(await sendForm(stack, form(1, 'q'), headers), 409, 'idempotency_conflict');
  });

  it('another key of the same user, and the same key on another route, are others', async () => {
    const headers = { 'idempotency-key': 'scoped' };
    const other = await stack.createKey();
    await generate(stack, { model: 'alpha-image-1k' }, headers);
    const foreign = await generate(
      stack,
      { model: 'alpha-image-1k' },
      { ...headers, authorization: `Bearer ${other}` },
    );
    expect(foreign.headers.get('idempotent-replayed')).toBeNull();
    expect((await edit(stack, { model: 'alpha-image-1k' })).status).toBe(200);
    expect(stack.simulator.received).toHaveLength(3);
  });
});
