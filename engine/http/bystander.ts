/**
 * A response that is never answered, for the sake of its `cork`. uWS wants upgrades made within a cork, but after one it
 * looks at the corked response once more, which is a WebSocket by then, often at the same address: a bit of whatever
 * stands there decides whether the connection is closed (code 1006; docs/decisions/0013). Within
 * the cork of another response it looks at that one.
 */
import { connect, type Socket } from 'node:net';
import type { NativeResponse } from './reply.ts';

/** The part of uWS's module that is needed for a listener of its own. */
export interface BystanderModule {
  App(): BystanderApp;
  us_listen_socket_close(socket: object): void;
  us_socket_local_port(socket: object): number;
}
interface BystanderApp {
  any(pattern: string, handler: (response: NativeResponse) => void): unknown;
  listen(host: string, port: number, options: number, callback: (socket: object | false) => void): unknown;
  close(): unknown;
}

export interface Bystander {
  /** Runs `work` at once, within the cork. */
  cork(work: () => void): void;
  close(): void;
}

const host = '127.0.0.1';

/** Connects to a listener that is closed again at once. Rejects where there is no loopback address. */
export async function openBystander(native: BystanderModule): Promise<Bystander> {
  const app = native.App();
  let response: NativeResponse | null = null;
  let client: Socket | null = null;
  const listening = await new Promise<object>((resolve, reject) => {
    app.listen(host, 0, 0, (socket) => {
      if (socket === false) reject(new Error(`Cannot listen on ${host}, which WebSockets need.`));
      else resolve(socket);
    });
  });
  try {
    await new Promise<void>((resolve, reject) => {
      app.any('/*', (given) => {
        given.onAborted(() => {
          response = null;
        });
        response = given;
        resolve();
      });
      client = connect(native.us_socket_local_port(listening), host, () =>
        client!.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
      );
      client.on('error', reject);
      client.unref();
    });
  } finally {
    native.us_listen_socket_close(listening);
  }
  return {
    cork(work) {
      if (response === null) throw new Error('The connection that upgrades need is gone.');
      response.cork(work);
    },
    close() {
      client?.destroy();
      app.close();
    },
  };
}
