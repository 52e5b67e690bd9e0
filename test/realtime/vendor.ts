/** A vendor that says exactly what a test wants, where the simulator is too well-behaved. */
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { type Documents, startStack } from '../kit/stack.ts';
import { Room, served } from './support.ts';

export const created = '{"type":"session.created","event_id":"ev1","session":{"type":"realtime","id":"sess_1"}}';

export interface BareVendor {
  readonly room: Room;
  /** The sockets that were opened, newest last. */
  readonly sockets: WebSocket[];
  /** What the newest socket got. */
  readonly frames: string[];
  close(): Promise<void>;
}

/** A stack whose sessions go to this vendor alone; `greet` is called for each socket, by default with the first event. */
export async function startBareVendor(
  greet: (socket: WebSocket) => void = (socket) => socket.send(created),
  more: (documents: Documents) => void = () => {},
): Promise<BareVendor> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const sockets: WebSocket[] = [];
  const frames: string[] = [];
  server.on('connection', (socket) => {
    sockets.push(socket);
    frames.length = 0;
    socket.on('message', (data) => frames.push(data.toString()));
    socket.on('error', () => {});
    greet(socket);
  });
  const edit = served('bare', (documents) => {
    const channel = documents.channels.channels['simulated-openai'];
    channel.baseUrl = `http://127.0.0.1:${port}/v1`;
    channel.cooldown = { failures: 1000, first: '1ms', longest: '1ms' };
    more(documents);
  });
  const room = new Room(await startStack({ edit }));
  return {
    room,
    sockets,
    frames,
    async close() {
      await room.close();
      for (const socket of server.clients) socket.terminate();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
