import { afterEach, describe, expect, it } from 'vitest';
import { asText, bearer, create, open, Room, refusal, requestId, say, served } from './support.ts';

let room: Room;
afterEach(() => room.close());

const received = () => room.stack.simulator.received.at(-1)!;

describe('4.1 GET /v1/realtime', () => {
  it('4.1 a text turn: events go both ways unchanged, the vendor gets the channel’s own key', async () => {
    room = await Room.start();
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
    expect(requestId(client)).toMatch(/^req_/);
    client.socket.close(1000, 'OK');
    await expect.poll(() => received().socket!.closed).toEqual({ code: 1000, reason: 'OK' });
    expect((await room.rows(client)).map(({ outcome, status, code }) => [outcome, status, code])).toEqual([
      ['ok', 101, null],
      ['ok', 101, null],
    ]);
  });
});
