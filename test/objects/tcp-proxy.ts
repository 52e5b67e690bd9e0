/** A TCP proxy that can stop passing bytes on: a server that hangs, or a network that lost it. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  /** How many connections were made. */
  connections(): number;
  /** From now on nothing passes in this direction; connections stay open. */
  stall(direction: 'to-server' | 'to-client'): void;
  close(): Promise<void>;
}

export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const stalled = new Set<string>();
  const sockets = new Set<Socket>();
  let made = 0;
  const pass = (direction: string, from: Socket, to: Socket) => {
    from.on('data', (chunk) => !stalled.has(direction) && to.write(chunk));
    from.on('close', () => to.destroy());
    from.on('error', () => to.destroy());
    sockets.add(from);
  };
  const server = createServer((client) => {
    made += 1;
    const upstream = connect(targetPort, '127.0.0.1');
    pass('to-server', client, upstream);
    pass('to-client', upstream, client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  const { port } = server.address() as AddressInfo;
  return { port, connections: () => made, stall: (direction) => void stalled.add(direction), close };
}

/** A port on which nothing listens. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
