/** A vendor's bad credential that comes as 400 is the channel's fault, in every image family (spec 5, 7). */
import { afterEach, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { recordingLog } from './chat-support.ts';
import { edit, expectAudit, generate, jsonOf } from './images-kit.ts';

let stack: Stack;

afterEach(() => stack.close());

const families = [
  ['xAI', 'simulated-xai', 'gamma-imagine-image', 'xai-bad-credential-of-the-operator'],
  ['Gemini', 'simulated-gemini', 'beta-3-pro-image', 'AIza-invalid-credential-of-the-operator'],
] as const;

/** The channel with the bad credential comes first; without `spare` it is the only one. */
async function startWith(channel: string, model: string, credential: string, spare: boolean) {
  const { log, entries } = recordingLog();
  stack = await startStack({
    log,
    edit({ channels }) {
      const sound = channels.channels[channel];
      channels.channels.broken = {
        ...sound,
        credentials: [credential],
        priority: 50,
        models: { [model]: sound.models[model] },
      };
      if (!spare) delete sound.models[model];
    },
  });
  return entries;
}

it.each(families)('5 %s: the next channel answers, the alarm is in the log without the secret', async (...names) => {
  const [, channel, model, credential] = names;
  const entries = await startWith(channel, model, credential, true);
  const answer = await generate(stack, { model });
  expect(answer.status).toBe(200);
  expect((await jsonOf(answer)).data).toHaveLength(1);
  expect(stack.simulator.received.map(({ status }) => status)).toEqual([400, 200]);
  const alarm = entries.find(({ level }) => level === 'error');
  expect(alarm?.message).toContain('credential');
  expect(alarm?.fields).toMatchObject({ channel: 'broken', reason: 'credential', status: 400, rests: 'credential' });
  expect(JSON.stringify(entries)).not.toContain(credential);
  expect((await stack.usage())[0]).toMatchObject({ channel, attempts: 2, images: 1, outcome: 'ok' });
  stack.simulator.reset();
  expect((await edit(stack, { model })).status).toBe(200);
  expect(stack.simulator.received, 'it rests at once').toHaveLength(1);
  await expectAudit(stack);
});

it.each(families)('5 %s: alone it is a 502, then a 503 with Retry-After, never a 401, and free', async (...names) => {
  const [, channel, model, credential] = names;
  await startWith(channel, model, credential, false);
  const first = await generate(stack, { model });
  expect(first.status).toBe(502);
  expect(await first.text()).not.toContain(credential.slice(0, 8));
  const second = await generate(stack, { model });
  expect(second.status).toBe(503);
  expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await stack.usage()).map(({ quota, images }) => [quota, images])).toEqual([
    [0, 0],
    [0, 0],
  ]);
  await expectAudit(stack);
});
