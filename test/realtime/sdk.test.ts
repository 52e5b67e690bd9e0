import { connect } from 'node:net';
import { createServer, type Server } from 'node:tls';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import type { RealtimeServerEvent } from 'openai/resources/realtime/realtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cert, key } from './certificate.ts';
import { Room } from './support.ts';

let room: Room;
let server: Server;
let base: string;

/** The SDK speaks wss only: TLS in front of the gateway, as a proxy would do it. */
beforeAll(async () => {
  room = await Room.start();
  const port = Number(new URL(room.stack.base).port);
  server = createServer({ key, cert }, (secure) => {
    const plain = connect(port, '127.0.0.1');
    secure.pipe(plain).pipe(secure);
    secure.on('error', () => plain.destroy());
    plain.on('error', () => secure.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `https://127.0.0.1:${(server.address() as { port: number }).port}/v1`;
});
afterAll(async () => {
  await room.close();
  await new Promise((resolve) => server.close(resolve));
});

it('4.1 GET /v1/realtime with the official SDK: a text turn, events in the SDK’s types, a clean close', async () => {
  const client = new OpenAI({ apiKey: room.stack.key, baseURL: base });
  const session = new OpenAIRealtimeWS({ model: 'demo-realtime', options: { ca: cert } }, client);
  const types: string[] = [];
  session.on('event', (event: RealtimeServerEvent) => types.push(event.type));
  const once = <T extends RealtimeServerEvent['type']>(type: T) =>
    new Promise<Extract<RealtimeServerEvent, { type: T }>>((resolve, reject) => {
      session.once(type, resolve as never);
      session.on('error', reject);
    });
  await once('session.created');
  session.send({ type: 'session.update', session: { type: 'realtime', output_modalities: ['text'] } });
  session.send({
    type: 'conversation.item.create',
    item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] },
  });
  session.send({ type: 'response.create' });
  const { response } = await once('response.done');
  expect(response.status).toBe('completed');
  expect(types).toContain('response.output_text.delta');
  const closed = new Promise<number>((resolve) => session.socket.once('close', resolve));
  session.close({ code: 1000, reason: 'done' });
  expect(await closed).toBe(1000);
  await expect.poll(async () => (await room.stack.usage()).length).toBe(2);
  expect((await room.stack.usage()).map(({ outputTokens }) => outputTokens)).toContain(response.usage?.output_tokens);
});
