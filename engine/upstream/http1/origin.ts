/** Opens sockets to one origin: TCP, or TLS with the checks that Node makes by default. */
import { connect as connectTcp, isIP, type OnReadOpts, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { Endpoint } from '../transport.ts';

/** ms of silence before the system asks whether the other side is still there. */
const probeAfter = 60_000;

/** What TLS trusts besides the system's; for tests. */
export interface Trust {
  readonly ca?: string;
}

export class Origin {
  /** As in the `Host` header. */
  readonly host: string;
  readonly connectTimeout: number;
  readonly isTls: boolean;
  private readonly hostname: string;
  private readonly port: number;
  private readonly trust: Trust;
  /** The newest TLS session: the next handshake is a short one. */
  private session: Buffer | undefined;

  constructor({ origin, connectTimeout }: Endpoint, trust: Trust) {
    const url = new URL(origin);
    this.host = url.host;
    this.connectTimeout = connectTimeout;
    this.isTls = url.protocol === 'https:';
    this.hostname = url.hostname.replace(/^\[|\]$/g, '');
    this.port = url.port === '' ? (this.isTls ? 443 : 80) : Number(url.port);
    this.trust = trust;
  }

  open(onread: OnReadOpts): Socket {
    const { hostname: host, port } = this;
    const socket = this.isTls ? this.openTls(onread) : connectTcp({ host, port, onread });
    socket.setNoDelay(true);
    socket.setKeepAlive(true, probeAfter);
    return socket;
  }

  private openTls(onread: OnReadOpts): Socket {
    const { hostname: host, port, session } = this;
    // The types do not know that TLS sockets take it too (node:tls, tls.connect).
    const options: ConnectionOptions & { onread: OnReadOpts } = {
      ...this.trust,
      host,
      port,
      onread,
      ALPNProtocols: ['http/1.1'],
      // RFC 6066 3: an address is no server name.
      ...(isIP(host) ? {} : { servername: host }),
      ...(session === undefined ? {} : { session }),
    };
    const socket = connectTls(options);
    socket.on('session', (newest) => {
      this.session = newest;
    });
    return socket;
  }
}
