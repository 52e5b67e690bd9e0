import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { asText, bearer, type Client, create, Room, say, served } from './support.ts';

/** Each answer costs about 0.0005 USD of tokens and 0.10 USD for itself. */
const priced = served('gpt-realtime', ({ models }) => {
  models.models['demo-realtime'].price.request = '0.10';
});

/** Balance and what is held, as the ledger has them now. */
async function available(room: Room): Promise<number> {
  await room.stack.gateway.ledger.flush();
  const user = (await room.stack.gateway.ledger.accounts.listUsers()).find(({ id }) => id === room.stack.userId);
  return user!.balance;
}

const answer = async (client: Client, text: string) => {
  const from = client.events.length;
  client.send(say(text), create);
  return client.until('response.done', from);
};

describe('8 sessions and money', () => {
  let room: Room;
  beforeAll(async () => {
    room = await Room.start();
  });
  afterAll(() => room.close());
  beforeEach(() => room.stack.simulator.faults.clear());
  const fail = (fault: object) => room.stack.simulator.faults.add({ match: { path: '/realtime' }, fault });

  it('8 each answer has a row of its own, charged once, before it ends; the session’s row costs nothing', async () => {
    const before = await available(room);
    const client = await room.open();
    client.send(asText);
    const usages = [];
    for (const text of ['one', 'two [cached=5]', 'three']) usages.push((await answer(client, text)).response.usage);
    client.socket.close();
    const rows = await room.rows(client);
    expect(rows).toHaveLength(4);
    expect(
      rows
        .slice(0, 3)
        .map(({ inputTokens, cachedInputTokens, outputTokens }) => [inputTokens, cachedInputTokens, outputTokens]),
    ).toEqual(
      usages.map(({ input_tokens, output_tokens, input_token_details }) => [
        input_tokens,
        input_token_details.cached_tokens,
        output_tokens,
      ]),
    );
    expect(rows[3]).toMatchObject({
      quota: 0,
      inputTokens: 0,
      outputTokens: 0,
      outcome: 'ok',
      status: 101,
      attempts: 1,
    });
    for (const row of rows.slice(0, 3))
      expect(row).toMatchObject({ outcome: 'ok', channel: 'simulated-openai', status: 101 });
    const sum = rows.reduce((total, { quota }) => total + quota, 0);
    expect(sum).toBeGreaterThan(0);
    expect(before - (await available(room))).toBe(sum);
    expect(await room.stack.gateway.ledger.accounts.audit()).toMatchObject({ ok: true });
  });

  it('8 the charge is booked before the client hears of the answer’s end', async () => {
    const client = await room.open();
    client.send(asText);
    await answer(client, 'Hi');
    const known = (await room.stack.usage()).map(({ requestId }) => requestId);
    expect(known).toContain(`${client.upgraded.headers['x-request-id']}.1`);
  });

  it('8 a cancelled answer is charged as the vendor reports it', async () => {
    const client = await room.converse('Hi [chunks=50] [tokens=500] [delay=10]');
    await client.until('response.output_text.delta');
    client.send({ type: 'response.cancel' });
    const { response } = await client.until('response.done');
    expect(response.status).toBe('cancelled');
    client.socket.close();
    const [row] = await room.rows(client);
    expect(row).toMatchObject({ outputTokens: response.usage.output_tokens, usageSource: 'measured', outcome: 'ok' });
  });

  it('8 transcripts of what was said are charged beside the answer', async () => {
    const client = await room.open();
    const transcription = { model: 'gpt-4o-transcribe' };
    client.send({ type: 'session.update', session: { ...asText.session, audio: { input: { transcription } } } });
    client.send({ type: 'input_audio_buffer.append', audio: Buffer.alloc(48_000).toString('base64') });
    client.send({ type: 'input_audio_buffer.commit' });
    const { usage } = await client.until('conversation.item.input_audio_transcription.completed');
    client.send(create);
    await client.until('response.done');
    client.socket.close();
    const rows = await room.rows(client);
    expect(rows).toHaveLength(3);
    expect(rows[0]).toMatchObject({ inputTokens: usage.input_tokens, audioInputTokens: 10, outputTokens: 5 });
  });

  it('8 a session in which nothing was answered costs nothing, and what was held is free again', async () => {
    const before = await available(room);
    const client = await room.open();
    await client.until('session.created');
    client.socket.close();
    expect((await room.rows(client)).map(({ quota }) => quota)).toEqual([0]);
    expect(await available(room)).toBe(before);
  });

  it('8 an answer without a report is estimated from what was relayed', async () => {
    fail({ nousage: true });
    const client = await room.converse('Hello [tokens=100]');
    const { response } = await client.until('response.done');
    client.socket.close();
    const [row] = await room.rows(client);
    const { length } = response.output[0].content[0].text;
    expect(row).toMatchObject({ usageSource: 'estimated', outcome: 'ok' });
    expect(row!.outputTokens).toBeGreaterThanOrEqual(Math.floor(length / 4) - 1);
    expect(row!.outputTokens).toBeLessThanOrEqual(length);
  });

  it.each([
    ['client closes', (client: Client) => client.socket.close(), 'ok'],
    ['client is cut off', (client: Client) => client.socket.terminate(), 'aborted'],
  ])('8 the %s within an answer: what was relayed is charged by estimate, once', async (_what, leave, outcome) => {
    const client = await room.converse('Hi [chunks=200] [tokens=2000] [delay=5]');
    await client.until('response.output_text.delta');
    await delay(100);
    leave(client);
    const rows = await room.rows(client);
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatchObject({ usageSource: 'estimated', outcome });
    expect(rows[0]!.outputTokens).toBeGreaterThan(0);
    expect(rows[0]!.outputTokens).toBeLessThan(2000);
    expect(rows[1]).toMatchObject({ quota: 0, outcome });
  });

  it('8 the vendor breaks off within an answer: the same', async () => {
    fail({ cut: 20 });
    const client = await room.converse('Hi [chunks=50] [tokens=500]');
    expect((await client.closed).code).toBe(1011);
    const rows = await room.rows(client);
    expect(rows.map(({ outcome, usageSource, code }) => [outcome, usageSource, code])).toEqual([
      ['error', 'estimated', 'upstream_error'],
      ['error', 'measured', 'upstream_error'],
    ]);
  });

  it('8 sound that was relayed is estimated by its length', async () => {
    fail({ cut: 30 });
    const client = await room.open();
    client.send(say('[bytes=4800000] [chunks=100]'), create);
    await client.closed;
    const said = client.events.filter(({ type }) => type === 'response.output_audio.delta');
    const bytes = said.reduce((sum, { delta }) => sum + Buffer.byteLength(delta, 'base64'), 0);
    const [row] = await room.rows(client);
    expect(row!.audioOutputTokens).toBeGreaterThan(0);
    expect(Math.abs(row!.audioOutputTokens - bytes / 2400)).toBeLessThan(said.length + 2);
  });

  it('8 an answer that failed without a report costs nothing', async () => {
    fail({ refuse: 'safety' });
    const client = await room.converse('Hello');
    const { response } = await client.until('response.done');
    client.socket.close();
    const [row] = await room.rows(client);
    expect(row).toMatchObject({ outputTokens: 0, inputTokens: response.usage.input_tokens });
  });

  it('5 a key that is revoked ends its session with the next answer, which is charged', async () => {
    const key = await room.stack.createKey();
    const client = await room.open({ headers: bearer(key) });
    client.send(asText);
    await answer(client, 'one');
    await room.stack.gateway.ledger.accounts.revokeKey(key);
    await answer(client, 'two');
    expect(await client.closed).toMatchObject({ code: 1008 });
    expect(client.events.at(-1)).toMatchObject({ type: 'error', error: { code: 'disabled_api_key' } });
    const rows = await room.rows(client);
    expect(rows.map(({ outcome, code }) => [outcome, code])).toEqual([
      ['ok', null],
      ['ok', null],
      ['error', 'disabled_api_key'],
    ]);
    expect(rows[1]!.quota).toBeGreaterThan(0);
  });
});

describe('8 a balance that runs out', () => {
  let room: Room;
  afterEach(() => room.close());

  it('8 ends the session after the answer with an error event and 1008; all answers are charged once', async () => {
    // Holds and answers cost about 0.10 USD each beside their tokens.
    room = await Room.start({ edit: priced, balance: 420_000 });
    const client = await room.open();
    client.send(asText);
    let answers = 0;
    while (client.socket.readyState === 1 && answers < 20) {
      const done = await answer(client, 'more').catch(() => null);
      if (done !== null) answers++;
      await delay(20);
    }
    expect((await client.closed).code).toBe(1008);
    expect(client.events.at(-1)).toMatchObject({
      type: 'error',
      error: { type: 'insufficient_quota', code: 'insufficient_quota' },
    });
    const rows = await room.rows(client);
    expect(rows).toHaveLength(answers + 1);
    expect(answers).toBeGreaterThan(0);
    expect(rows.at(-1)).toMatchObject({ quota: 0, outcome: 'error', code: 'insufficient_quota' });
    const sum = rows.reduce((total, { quota }) => total + quota, 0);
    expect(await available(room)).toBe(420_000 - sum);
    expect(await room.stack.gateway.ledger.accounts.audit()).toMatchObject({ ok: true });
  });

  it('8 the money that one session holds is no other’s', async () => {
    room = await Room.start({ edit: priced, balance: 420_000 });
    const first = await room.open();
    await expect(room.open()).rejects.toMatchObject({ status: 429 });
    first.socket.close();
    await room.rows(first);
    await room.open();
  });
});
