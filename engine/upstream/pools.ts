/** Connections to vendors. They outlive a reload, keyed by what they lead to. */
import { HttpConnections } from './http1/connections.ts';
import { pinnedConnections } from './pinned.ts';
import type { ConnectionList, Endpoint, PinnedEndpoint } from './transport.ts';

export type { RawHeaders } from './headers.ts';
export type {
  ConnectionList,
  Receiver,
  Sending,
  StreamedBody,
  TransportFailure,
  UpstreamRequest,
} from './transport.ts';

/** All connections of the process. */
export class Pools {
  private readonly lists = new Map<string, HttpConnections>();

  /** The list for an endpoint; resolved when a configuration is compiled, not per request. */
  list(endpoint: Endpoint): ConnectionList {
    const key = `${endpoint.origin} ${endpoint.connectTimeout}`;
    let list = this.lists.get(key);
    if (list === undefined) {
      list = new HttpConnections(endpoint);
      this.lists.set(key, list);
    }
    return list;
  }

  /** A list for one use: what a checked address leads to is not shared. */
  pinned(endpoint: PinnedEndpoint): ConnectionList {
    return pinnedConnections(endpoint);
  }

  /** Breaks what is going on; resolves when every socket is closed. */
  async close(): Promise<void> {
    const lists = [...this.lists.values()];
    this.lists.clear();
    await Promise.all(lists.map((list) => list.close()));
  }
}
