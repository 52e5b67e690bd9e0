/** The HTTP server: the only place that knows uWebSockets.js. It copies what it needs out of native memory and hands on. */
import { createRequire } from 'node:module';
import type { NativeHead } from '../chain/runner.ts';
import { openBystander } from './bystander.ts';
import type { NativeResponse } from './reply.ts';
import { socketBehavior, Upgrade } from './sockets.ts';

/** The part of the package that is used; its own type file is newer than its Node 20 binary. */
interface NativeModule {
  App(): NativeApp;
  us_listen_socket_close(socket: object): void;
  us_socket_local_port(socket: object): number;
}
interface NativeApp {
  ws(pattern: string, behavior: typeof socketBehavior & { upgrade: UpgradeHandler }): NativeApp;
  any(pattern: string, handler: (response: NativeResponse, request: NativeRequest) => void): NativeApp;
  listen(host: string, port: number, options: number, callback: (socket: object | false) => void): NativeApp;
  close(): NativeApp;
}
type UpgradeHandler = (response: NativeResponse, request: NativeRequest, context: object) => void;
interface NativeRequest extends NativeHead {
  getMethod(): string;
  getUrl(): string;
  /** Undefined where the target has no question mark. */
  getQuery(): string | undefined;
}

/** `LIBUS_LISTEN_EXCLUSIVE_PORT`: a port that another process has is an error, not shared in silence. */
const exclusivePort = 1;

export interface ServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Longest request head in bytes; what is longer gets uWS's own 431. */
  readonly maximumHeaderBytes: number;
  /** `upgrade` is there where the client asks for a WebSocket. */
  handle(
    response: NativeResponse,
    head: NativeHead,
    method: string,
    path: string,
    query: string,
    upgrade: Upgrade | null,
  ): void;
}

export interface Server {
  readonly port: number;
  /** Takes no new connections. */
  stopListening(): void;
  /** Cuts what is still open. */
  close(): void;
}

function loadNative(): NativeModule {
  try {
    return createRequire(import.meta.url)('uWebSockets.js') as NativeModule;
  } catch (cause) {
    const platform = `${process.platform} ${process.arch}, Node ${process.version}`;
    throw new Error(
      `uWebSockets.js has no binary that loads on this machine (${platform}); Node 20 needs glibc 2.27 or newer, Node 22 and later glibc 2.38. See "Platforms" in README.md.`,
      { cause },
    );
  }
}

export async function startServer(options: ServerOptions): Promise<Server> {
  // uWS reads this once, with getenv, when the first App is made; its own default of 4 KB is too small for browsers' cookies.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE = String(options.maximumHeaderBytes);
  const native = loadNative();
  const bystander = await openBystander(native);
  const app = native.App();
  const handle = (response: NativeResponse, request: NativeRequest, upgrade: Upgrade | null) =>
    options.handle(response, request, request.getMethod(), request.getUrl(), request.getQuery() ?? '', upgrade);
  app.ws('/*', {
    ...socketBehavior,
    upgrade: (response, request, context) =>
      handle(response, request, new Upgrade(request.getHeader('sec-websocket-key'), context, bystander)),
  });
  app.any('/*', (response, request) => handle(response, request, null));
  const socket = await new Promise<object>((resolve, reject) => {
    app.listen(options.host, options.port, exclusivePort, (listening) => {
      if (listening === false)
        reject(
          new Error(
            `Cannot listen on ${options.host}:${options.port}: the port is taken or not allowed, or the host is no address of this machine. Choose another in gateway.yaml (listen) or with --port.`,
          ),
        );
      else resolve(listening);
    });
  });
  let listening = true;
  const stopListening = () => {
    if (listening) native.us_listen_socket_close(socket);
    listening = false;
  };
  return {
    port: native.us_socket_local_port(socket),
    stopListening,
    close() {
      stopListening();
      app.close();
      bystander.close();
    },
  };
}
