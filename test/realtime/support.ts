/** Clients of realtime sessions over real sockets, and a stack whose one channel serves them. */
import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type ClientOptions, WebSocket } from 'ws';
import type { UsageRow } from '../../engine/contract/usage.ts';
import { type Documents, type Stack, startStack } from '../kit/stack.ts';

// biome-ignore lint/suspicious/noExplicitAny: events of many shapes, asserted field by field
export type Event = any;

export interface Client {
  readonly socket: WebSocket;
  readonly upgraded: IncomingMessage;
  /** Frames as they came, and parsed; what cannot be parsed stays text. */
  readonly frames: string[];
  readonly events: Event[];
  send(...events: readonly object[]): void;
  /** Waits for the first event of a type at or behind a place in `events`. */
  until(type: string, from?: number): Promise<Event>;
  types(): string[];
  readonly closed: Promise<{ code: number; reason: string }>;
}

export interface Refused {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Event;
}

export interface OpenOptions {
  readonly query?: string;
  readonly protocols?: string[];
  readonly headers?: ClientOptions['headers'];
}

export const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

function parse(text: string): Event {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Rejects with `Refused` where the handshake is answered with a status. */
export async function open(base: string, options: OpenOptions = {}): Promise<Client> {
  const { query = 'model=demo-realtime', protocols = [], headers = {} } = options;
  const socket = new WebSocket(`${base.replace('http', 'ws')}/realtime?${query}`, protocols, { headers });
  const frames: string[] = [];
  const events: Event[] = [];
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const check of [...waiting]) check();
  };
  socket.on('message', (data) => {
    frames.push(data.toString());
    events.push(parse(data.toString()));
    wake();
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => {
      resolve({ code, reason: reason.toString() });
      wake();
    });
  });
  const until = (type: string, from = 0) =>
    new Promise<Event>((resolve, reject) => {
      const check = () => {
        const found = events.slice(from).find((event) => event.type === type);
        if (found === undefined && socket.readyState !== WebSocket.CLOSED) return;
        waiting.delete(check);
        if (found === undefined) reject(new Error(`closed before ${type}: ${frames.at(-1)}`));
        else resolve(found);
      };
      waiting.add(check);
      check();
    });
  const upgraded = await new Promise<IncomingMessage>((resolve, reject) => {
    let response: IncomingMessage | null = null;
    socket.once('upgrade', (message) => {
      response = message;
    });
    socket.once('open', () => resolve(response!));
    socket.on('error', reject);
    socket.once('unexpected-response', (_request, refusal) => {
      let text = '';
      refusal.on('data', (chunk) => {
        text += chunk;
      });
      refusal.on('end', () => reject({ status: refusal.statusCode, headers: refusal.headers, body: parse(text) }));
    });
  });
  return {
    socket,
    upgraded,
    frames,
    events,
    closed,
    until,
    types: () => events.map(({ type }) => type),
    send: (...list) => {
      for (const event of list) socket.send(JSON.stringify(event));
    },
  };
}

export const refusal = (opening: Promise<Client>): Promise<Refused> =>
  opening.then(
    () => Promise.reject(new Error('it was not refused')),
    (error: Refused) => error,
  );

export const say = (text: string) => ({
  type: 'conversation.item.create',
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
});
export const create = { type: 'response.create' };
export const asText = { type: 'session.update', session: { type: 'realtime', output_modalities: ['text'] } };

/** Only the first channel serves sessions, under the vendor's name that is given: there may stand faults behind it. */
export const served =
  (vendorModel = 'gpt-realtime', more: (documents: Documents) => void = () => {}) =>
  (documents: Documents) => {
    const { channels } = documents.channels;
    // Both have the same list, by an alias.
    const { 'demo-realtime': _, ...others } = channels['simulated-openai'].models;
    channels['simulated-openai'].models = { ...others, 'demo-realtime': vendorModel };
    channels['simulated-openai-spare'].models = others;
    more(documents);
  };

/** A stack and its clients, closed together. */
export class Room {
  readonly stack: Stack;
  private readonly clients: Client[] = [];

  constructor(stack: Stack) {
    this.stack = stack;
  }

  static async start(options: Parameters<typeof startStack>[0] = {}): Promise<Room> {
    return new Room(await startStack({ edit: served(), ...options }));
  }

  async open(options: OpenOptions = {}): Promise<Client> {
    const client = await open(this.stack.base, { headers: bearer(this.stack.key), ...options });
    this.clients.push(client);
    return client;
  }

  /** A session in text that was told something and is to answer. */
  async converse(text: string, options: OpenOptions = {}): Promise<Client> {
    const client = await this.open(options);
    client.send(asText, say(text), create);
    return client;
  }

  /** The rows of one session, in the order of their numbers; waits for the session's own, which has none. */
  async rows(client: Client): Promise<UsageRow[]> {
    const id = requestId(client);
    for (let turn = 0; turn < 100; turn++) {
      const rows = (await this.stack.usage()).filter(({ requestId }) => requestId.split('.')[0] === id);
      if (rows.some(({ requestId }) => requestId === id))
        return rows.toSorted((one, other) => numberOf(one) - numberOf(other));
      await delay(20);
    }
    throw new Error(`the session ${id} was not settled`);
  }

  async close(): Promise<void> {
    for (const { socket } of this.clients.splice(0)) socket.terminate();
    await this.stack.close();
  }
}

/** The session's own row stands last. */
const numberOf = ({ requestId }: UsageRow): number => Number(requestId.split('.')[1] ?? Number.MAX_SAFE_INTEGER);

export const requestId = (client: Client): string => String(client.upgraded.headers['x-request-id']);
