/** All connections to one origin. There is no bound on them: limits and concurrency of keys and models are the bound. */
import type { ConnectionList, Endpoint, Receiver, Sending, UpstreamRequest } from '../transport.ts';
import { Connection, type Home } from './connection.ts';
import { Exchange, tellBroken } from './exchange.ts';
import { IdleStack } from './idle-stack.ts';
import { Origin, type Trust } from './origin.ts';
import { RequestHeads } from './request-head.ts';

export class HttpConnections implements ConnectionList, Home {
  readonly origin: Origin;
  private readonly heads: RequestHeads;
  private readonly idle = new IdleStack<Connection>();
  private readonly all = new Set<Connection>();
  private isClosed = false;

  constructor(endpoint: Endpoint, trust: Trust = {}) {
    this.origin = new Origin(endpoint, trust);
    this.heads = new RequestHeads(this.origin.host);
  }

  send(request: UpstreamRequest, receiver: Receiver): Sending {
    let head: string;
    try {
      if (this.isClosed) throw new Error('the gateway is closing');
      head = this.heads.write(request);
    } catch (error) {
      return refuse(receiver, error as Error);
    }
    const exchange = new Exchange(head, request, receiver);
    const connection = this.idle.pop();
    if (connection === null) this.open(exchange);
    else connection.take(exchange);
    return exchange;
  }

  keep(connection: Connection): void {
    this.idle.push(connection);
  }

  drop(connection: Connection): void {
    this.idle.remove(connection);
  }

  closed(connection: Connection): void {
    this.all.delete(connection);
  }

  sendElsewhere(exchange: Exchange): void {
    this.open(exchange);
  }

  /** Breaks what is going on; resolves when every socket is closed. */
  async close(): Promise<void> {
    this.isClosed = true;
    const cause = new Error('the gateway is closing');
    await Promise.all([...this.all].map((connection) => connection.shut(cause)));
  }

  private open(exchange: Exchange): void {
    this.all.add(new Connection(this, exchange));
  }
}

/** The caller first gets hold of its request. */
function refuse(receiver: Receiver, cause: Error): Sending {
  let heard = true;
  process.nextTick(() => {
    if (heard) tellBroken(receiver, { reason: 'connect', cause });
  });
  return {
    abort: () => {
      heard = false;
    },
    resume: () => {},
  };
}
