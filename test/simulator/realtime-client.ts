import { type ClientOptions, WebSocket } from 'ws';

// biome-ignore lint/suspicious/noExplicitAny: events of many shapes, asserted field by field
type Event = any;

export interface RealtimeClient {
  readonly socket: WebSocket;
  /** Parsed server events so far; a text that cannot be parsed stays a text. */
  readonly events: Event[];
  send(...events: readonly object[]): void;
  /** Waits for the first event of a type at or behind a place in `events`. */
  until(type: string, from?: number): Promise<Event>;
  /** The types of the events so far. */
  types(): string[];
  /** How the connection ended. */
  readonly closed: Promise<{ code: number; reason: string }>;
}

/** Opens a session. Rejects with the handshake's status and body where it is refused. */
export function openRealtime(
  url: string,
  query = 'model=gpt-realtime',
  {
    protocols = [],
    headers = { authorization: 'Bearer sk-good' },
  }: { protocols?: string[]; headers?: ClientOptions['headers'] } = {},
): Promise<RealtimeClient> {
  const address = `${url.replace('http', 'ws')}/openai/v1/realtime?${query}`;
  const socket = new WebSocket(address, protocols, { headers });
  const events: Event[] = [];
  const waiting = new Set<() => void>();
  const wake = (): void => {
    for (const check of waiting) check();
  };
  socket.on('message', (data) => {
    events.push(parse(data.toString()));
    wake();
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => {
      resolve({ code, reason: reason.toString() });
      wake();
    });
  });
  const client: RealtimeClient = {
    socket,
    events,
    closed,
    send: (...list) => {
      for (const event of list) socket.send(JSON.stringify(event));
    },
    types: () => events.map(({ type }) => type),
    until: (type, from = 0) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const found = events.slice(from).find((event) => event.type === type);
          const over = socket.readyState === WebSocket.CLOSED;
          if (!found && !over) return;
          waiting.delete(check);
          if (found) resolve(found);
          else reject(new Error(`closed before ${type}`));
        };
        waiting.add(check);
        check();
      }),
  };
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(client));
    socket.on('error', reject);
    socket.once('unexpected-response', (_request, response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('error', reject);
      response.on('end', () => {
        reject(Object.assign(new Error('refused'), { status: response.statusCode, headers: response.headers, text }));
      });
    });
  });
}

function parse(text: string): Event {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}
