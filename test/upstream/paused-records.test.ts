/** What a TLS socket has decrypted already goes on coming while its reader is paused: it stays with that answer alone. */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { HttpConnections } from '../../engine/upstream/http1/connections.ts';
import { Heard, type Play, type RawServer, send, startRawServer, whole } from './raw-server.ts';

const pem = (name: string) => readFileSync(new URL(`certificates/${name}.pem`, import.meta.url), 'utf8');

let server: RawServer;
let list: HttpConnections;
const start = async (play: Play) => {
  server = await startRawServer(play, { cert: pem('vendor'), key: pem('vendor-key') });
  list = new HttpConnections(
    { origin: `https://localhost:${server.port}`, connectTimeout: 2_000 },
    { ca: pem('vendor') },
  );
};
afterEach(async () => {
  await list.close();
  await expect.poll(() => server.open()).toBe(0);
  await server.close();
});

/** Several records in one segment: the reader pauses at the first. */
async function pausedAtFirst(): Promise<Heard> {
  const heard = new Heard();
  heard.goesOn = () => heard.chunks.length > 1;
  send(list, {}, heard);
  await expect.poll(() => heard.chunks.length).toBe(1);
  await delay(50);
  return heard;
}

/** Bytes of a full TLS record. */
const record = 16_384;
const big = 'a'.repeat(20_000);

describe('an answer in several TLS records whose reader pauses at the first', () => {
  it('leaves a connection that carries the next request', async () => {
    await start((socket, _request, index) => socket.write(whole(index === 0 ? big : 'second')));
    const heard = await pausedAtFirst();
    heard.sending.resume();
    expect((await heard.over).text.length).toBe(big.length);
    expect(await send(list, { firstByteTimeout: 500 }).over).toMatchObject({ failure: null, text: 'second' });
    expect(server.sockets.length).toBe(1);
  });

  it('with bytes behind its end is followed by no other on that connection', async () => {
    // The second answer begins a record of its own.
    const head = 'HTTP/1.1 200 OK\r\nContent-Length: 32000\r\nX: ';
    const padded = `${head}${'x'.repeat(2 * record - 32_000 - head.length - 4)}\r\n\r\n${'a'.repeat(32_000)}`;
    await start((socket, _request, index) => socket.write(index === 0 ? padded + whole('evil') : whole('second')));
    const heard = await pausedAtFirst();
    heard.sending.resume();
    expect((await heard.over).text.length).toBeGreaterThan(record);
    expect(await send(list, { firstByteTimeout: 500 }).over).toMatchObject({ failure: null, text: 'second' });
    expect(server.sockets.length).toBe(2);
  });
});
