import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createExchange } from './exchange.ts';
import { createFaultRules, type FaultRule } from './faults/rules.ts';
import { createPictures } from './images/pictures.ts';
import { createRealtime } from './realtime/upgrade.ts';
import { createReceivedLog, type ReceivedRequest } from './received.ts';
import { VENDORS } from './vendors/index.ts';

export interface SimulatorOptions {
  /** Default 0: any free port. */
  port?: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** `exact` (default) draws the asked pixels, `small` at most 16 a side. */
  images?: 'small' | 'exact';
}

/** A running simulator. */
export interface Simulator {
  /** `http://127.0.0.1:PORT`; a vendor's base URL is `${url}/openai/v1`, `${url}/gemini/v1beta`, `${url}/xai/v1`. */
  readonly url: string;
  readonly port: number;
  /** What arrived, newest last; bounded, the oldest are forgotten. */
  readonly received: readonly ReceivedRequest[];
  readonly faults: {
    /** Adds rules; of several that match, later ones win. Throws `FaultError`. */
    add(...rules: FaultRule[]): void;
    clear(): void;
    list(): FaultRule[];
  };
  /** Forgets faults and what was received. */
  reset(): void;
  /** Ends every connection, also those in the middle of an answer. */
  close(): Promise<void>;
}

const KEEP_ALIVE_MS = 120_000;

/** Starts every vendor on one port. Rejects when the port is taken. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { port = 0, host = '127.0.0.1', images = 'exact' } = options;
  const faults = createFaultRules();
  const received = createReceivedLog();
  const server = createServer({ noDelay: true, keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0 });
  await listen(server, port, host);
  const bound = (server.address() as AddressInfo).port;
  const url = `http://${reachable(host)}:${bound}`;
  const stage = { origin: url, faults, received, pictures: createPictures(images) };
  const realtime = createRealtime(stage);
  server.on('request', createExchange(stage));
  server.on('upgrade', realtime.upgrade);
  return {
    url,
    port: bound,
    received: received.requests,
    faults,
    reset() {
      faults.clear();
      received.clear();
    },
    close() {
      realtime.close();
      return close(server);
    },
  };
}

/** Base URLs by vendor name, as a channel's `baseUrl` takes them, and the control endpoint. */
export function simulatorSummary(simulator: Simulator): { vendors: Record<string, string>; control: string } {
  const vendors = VENDORS.map((vendor) => [vendor.name, `${simulator.url}${vendor.basePath}`] as const);
  return { vendors: Object.fromEntries(vendors), control: `${simulator.url}/_control` };
}

function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
