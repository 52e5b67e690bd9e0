/** Bytes over a plain socket: what no well-behaved client would send. */
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { hashKey } from '../../engine/ledger/key.ts';
import type { Stack } from '../kit/stack.ts';

export interface RawConnection {
  readonly socket: Socket;
  /** Everything received so far, as latin1. */
  text(): string;
  /** Waits until `found` is in what was received, or the connection has ended. */
  until(found: string | RegExp, timeout?: number): Promise<string>;
  /** Resolves with everything when the other side has closed. */
  ended(timeout?: number): Promise<string>;
  send(bytes: string | Buffer): void;
  close(): void;
}

export function openRaw(base: string): Promise<RawConnection> {
  const { hostname, port } = new URL(base);
  const chunks: Buffer[] = [];
  let over = false;
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('close', () => {
    over = true;
  });
  const text = () => Buffer.concat(chunks).toString('latin1');
  const waitFor = async (done: () => boolean, timeout: number): Promise<string> => {
    const limit = Date.now() + timeout;
    while (!done() && Date.now() < limit) await delay(5);
    return text();
  };
  const connection: RawConnection = {
    socket,
    text,
    until: (found, timeout = 5_000) =>
      waitFor(() => over || (typeof found === 'string' ? text().includes(found) : found.test(text())), timeout),
    ended: (timeout = 15_000) => waitFor(() => over, timeout),
    send: (bytes) => void socket.write(bytes),
    close: () => void socket.destroy(),
  };
  return new Promise((resolve, reject) => {
    socket.once('connect', () => {
      // A reset is one of the answers that are tested for; `close` follows it.
      socket.on('error', () => {});
      resolve(connection);
    });
    socket.once('error', reject);
  });
}

/** One exchange: sends, waits for an answer or the end, closes. */
export async function sendRaw(base: string, bytes: string | Buffer, timeout = 5_000): Promise<string> {
  const connection = await openRaw(base);
  connection.send(bytes);
  const text = await connection.until(/\r\n\r\n/, timeout);
  connection.close();
  return text;
}

/** `POST /v1/chat/completions` with a right key and these further headers, without a body. */
export function chatHead(stack: Stack, headers: readonly string[]): string {
  return `${[
    'POST /v1/chat/completions HTTP/1.1',
    'host: gateway',
    `authorization: Bearer ${stack.key}`,
    'content-type: application/json',
    ...headers,
  ].join('\r\n')}\r\n\r\n`;
}

export const hello = JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] });

/** Nothing runs, nothing is held, the books balance, and the next request is served. */
export async function expectAtRest(stack: Stack, charged?: number): Promise<void> {
  await vi.waitFor(() => expect(stack.gateway.snapshot.active).toBe(0), { timeout: 5_000 });
  const rows = await stack.usage();
  if (charged !== undefined) expect(rows.filter((row) => row.quota > 0)).toHaveLength(charged);
  const { accounts } = stack.gateway.ledger;
  expect(await accounts.audit()).toMatchObject({ ok: true });
  const { account } = await heldBy(stack);
  expect(account.available).toBe((await accounts.findUser(stack.userId))?.balance);
  expect((await fetch(stack.base.replace('/v1', '/healthz'))).status).toBe(200);
}

/** The stack's key as the ledger knows it. */
export async function heldBy(stack: Stack) {
  const record = await stack.gateway.ledger.findKey(hashKey(stack.key));
  if (record === null) throw new Error('the key of the stack is unknown');
  return record;
}
