import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asText, bearer, create, Room, requestId, say } from './support.ts';

let room: Room;
beforeAll(async () => {
  room = await Room.start();
});
afterAll(() => room.close());

const received = () => room.stack.simulator.received.at(-1)!;

describe('4.1 GET /v1/realtime', () => {
  it('4.1 a text turn: all events come, the vendor gets the client’s and the channel’s own key', async () => {
    const client = await room.converse('Hi there');
    const { response } = await client.until('response.done');
    expect(response).toMatchObject({ status: 'completed', usage: { output_tokens: expect.any(Number) } });
    expect(client.types()[0]).toBe('session.created');
    expect(client.types()).toContain('response.output_text.delta');
    await client.until('rate_limits.updated');
    const { headers, path, socket, events } = received();
    expect(path).toBe('/openai/v1/realtime?model=gpt-realtime');
    expect(headers.authorization).toMatch(/^Bearer sk-simulated/);
    expect(JSON.stringify(headers)).not.toContain(room.stack.key);
    expect(socket!.frames).toEqual([asText, say('Hi there'), create]);
    expect(client.frames).toHaveLength(events);
    client.socket.close(1000, 'OK');
    await expect.poll(() => received().socket!.closed).toEqual({ code: 1000, reason: 'OK' });
    expect((await room.rows(client)).map(({ outcome, status, code }) => [outcome, status, code])).toEqual([
      ['ok', 101, null],
      ['ok', 101, null],
    ]);
  });

  it('4.1 sound both ways, charged by its own prices', async () => {
    const client = await room.open();
    const audio = Buffer.alloc(96_000, 5).toString('base64');
    client.send(
      { type: 'input_audio_buffer.append', audio },
      { type: 'input_audio_buffer.commit' },
      say('Speak'),
      create,
    );
    const { response } = await client.until('response.done');
    const said = client.events.filter(({ type }) => type === 'response.output_audio.delta');
    expect(said.length).toBeGreaterThan(0);
    client.socket.close();
    const [row] = await room.rows(client);
    const { input_tokens, output_tokens, input_token_details, output_token_details } = response.usage;
    expect(row).toMatchObject({
      inputTokens: input_tokens,
      outputTokens: output_tokens,
      audioInputTokens: input_token_details.audio_tokens,
      audioOutputTokens: output_token_details.audio_tokens,
      usageSource: 'measured',
      endpoint: '/v1/realtime',
      model: 'demo-realtime',
    });
    expect(row!.audioInputTokens).toBeGreaterThan(0);
    const plainIn = input_tokens - input_token_details.audio_tokens - input_token_details.cached_tokens;
    const plainOut = output_tokens - output_token_details.audio_tokens;
    const dollars =
      plainIn * 4 +
      row!.cachedInputTokens * 0.4 +
      row!.audioInputTokens * 32 +
      plainOut * 16 +
      row!.audioOutputTokens * 64;
    expect(row!.quota).toBe(Math.round(dollars / 2));
  });

  it('5 the key in the subprotocol that browsers send: `realtime` is answered, the key never', async () => {
    const key = `openai-insecure-api-key.${room.stack.key}`;
    const client = await room.open({ protocols: ['realtime', key, 'openai-organization.org_1'], headers: {} });
    expect(client.socket.protocol).toBe('realtime');
    expect(JSON.stringify(client.upgraded.headers)).not.toContain(room.stack.key);
    await client.until('session.created');
    expect(JSON.stringify(received().headers)).not.toContain(room.stack.key);
  });

  it('5 the key in x-api-key', async () => {
    const client = await room.open({ headers: { 'x-api-key': room.stack.key } });
    expect(client.socket.protocol).toBe('');
    expect(requestId(client)).toMatch(/^req_/);
    await client.until('session.created');
  });

  it('4.1 the beta is asked for by header or by subprotocol', async () => {
    await room.open({ headers: { ...bearer(room.stack.key), 'openai-beta': 'realtime=v1' } });
    expect(received().headers['openai-beta']).toBe('realtime=v1');
    const key = `openai-insecure-api-key.${room.stack.key}`;
    await room.open({ protocols: ['realtime', key, 'openai-beta.realtime-v1'], headers: {} });
    expect(received().headers['openai-beta']).toBe('realtime=v1');
    await room.open();
    expect(received().headers['openai-beta']).toBeUndefined();
  });

  it('4.1 errors within the session are handed over, and it goes on', async () => {
    const client = await room.open();
    client.send({ type: 'session.explode', event_id: 'mine' });
    expect((await client.until('error')).error).toMatchObject({ code: 'invalid_value', event_id: 'mine' });
    client.send(asText, say('Still there?'), create);
    expect((await client.until('response.done')).response.status).toBe('completed');
  });

  it('4.1 tools are called, and their results answered', async () => {
    const client = await room.open();
    const tools = [{ type: 'function', name: 'lookup', parameters: { properties: { id: { type: 'integer' } } } }];
    client.send({ type: 'session.update', session: { ...asText.session, tools } }, say('look'), create);
    const call = await client.until('response.function_call_arguments.done');
    await client.until('rate_limits.updated');
    const from = client.events.length;
    const item = { type: 'function_call_output', call_id: call.call_id, output: '42' };
    client.send({ type: 'conversation.item.create', item }, create);
    const { response } = await client.until('response.done', from);
    expect(response.output).toMatchObject([{ type: 'message' }]);
  });

  it('8 events of 20 MB pass', async () => {
    const client = await room.open();
    client.send(
      { type: 'input_audio_buffer.append', audio: Buffer.alloc(15_000_000).toString('base64') },
      { type: 'input_audio_buffer.commit' },
    );
    await client.until('input_audio_buffer.committed');
  });

  it('7 sessions are counted in the metrics, and what was used in them', async () => {
    const text = await (await fetch(`${room.stack.gateway.url}/metrics`)).text();
    expect(text).toMatch(/gateway_requests_total\{route="\/v1\/realtime",outcome="ok"\} [1-9]/);
    expect(text).toMatch(/gateway_output_tokens_total\{route="\/v1\/realtime"\} [1-9]/);
  });
});
