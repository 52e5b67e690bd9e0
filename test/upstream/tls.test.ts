/** TLS to vendors: what is trusted, and that everything else is as without it. */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { HttpConnections } from '../../engine/upstream/http1/connections.ts';
import { Heard, type Play, type RawServer, send, startRawServer, whole } from './raw-server.ts';

const pem = (name: string) => readFileSync(new URL(`certificates/${name}.pem`, import.meta.url), 'utf8');
const vendor = { cert: pem('vendor'), key: pem('vendor-key'), ALPNProtocols: ['h2', 'http/1.1'] };
const address = { cert: pem('address'), key: pem('address-key') };

let server: RawServer;
let list: HttpConnections;
const start = async (play: Play, host: string, ca: string | null, tls: object = vendor) => {
  server = await startRawServer(play, tls);
  const origin = `https://${host}:${server.port}`;
  list = new HttpConnections({ origin, connectTimeout: 2_000 }, ca === null ? {} : { ca });
};
afterEach(async () => {
  await list.close();
  await expect.poll(() => server.open()).toBe(0);
  await server.close();
});

const hello: Play = (socket, _request, index) => socket.write(whole(`hello ${index}`));

describe('a vendor behind TLS', () => {
  it('is asked with its name and HTTP/1.1, over one connection', async () => {
    await start(hello, 'localhost', vendor.cert);
    expect((await send(list).over).text).toBe('hello 0');
    expect((await send(list).over).text).toBe('hello 1');
    expect(server.sockets.length).toBe(1);
    const socket = server.sockets[0] as TLSSocket & { servername: string };
    expect({ name: socket.servername, protocol: socket.alpnProtocol }).toEqual({
      name: 'localhost',
      protocol: 'http/1.1',
    });
  });

  it('at an address is asked without a name', async () => {
    await start(hello, '127.0.0.1', address.cert, address);
    expect((await send(list).over).text).toBe('hello 0');
    expect((server.sockets[0] as TLSSocket & { servername: string | false }).servername).toBe(false);
  });

  it('meets a session it knows on the next connection', async () => {
    const reused: boolean[] = [];
    const play: Play = (socket) => {
      reused.push((socket as TLSSocket).isSessionReused());
      socket.end(whole('x', 'Connection: close\r\n'));
    };
    await start(play, 'localhost', vendor.cert);
    await send(list).over;
    await send(list).over;
    expect(reused).toEqual([false, true]);
  });

  const refused: readonly (readonly [name: string, host: string, ca: string | null, tls: object, message: RegExp])[] = [
    ['whose certificate nobody vouches for', 'localhost', null, vendor, /self.signed certificate/],
    ['whose certificate is another’s', 'localhost', address.cert, vendor, /self.signed certificate/],
    ['with the wrong name', '127.0.0.1', vendor.cert, vendor, /does not match|not in the cert/],
    ['with the wrong address', 'localhost', address.cert, address, /does not match|not in the cert/],
  ];
  it.each(refused)('%s is refused, and nothing is sent', async (_name, host, ca, tls, message) => {
    await start(hello, host, ca, tls);
    const { failure } = await send(list).over;
    expect(failure).toMatchObject({ reason: 'connect', cause: { message: expect.stringMatching(message) } });
    expect(server.requests).toEqual([]);
  });

  it('gets large bodies and sends large answers, to quick and slow readers', async () => {
    const body = Buffer.alloc(4_000_000, 'abcdefghijk');
    await start(
      (socket, request) => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${request.length - request.indexOf('\r\n\r\n') - 4}\r\n\r\n`);
        socket.write(body);
      },
      'localhost',
      vendor.cert,
    );
    for (const slow of [false, true, true, false]) {
      const heard = new Heard();
      heard.goesOn = () => {
        if (!slow || heard.chunks.length % 5 !== 0) return true;
        setTimeout(() => heard.sending.resume(), 1);
        return false;
      };
      send(list, { body }, heard);
      await heard.over;
      expect({ failure: heard.failure, same: heard.body.equals(body) }).toEqual({ failure: null, same: true });
    }
    expect(server.sockets.length).toBe(1);
  });

  it('ends a body without a length by closing, also to a reader that is paused', async () => {
    await start(
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        for (let index = 0; index < 20; index++) socket.write(`${index};`.repeat(100));
        socket.end();
      },
      'localhost',
      vendor.cert,
    );
    const heard = new Heard();
    heard.goesOn = () => {
      setTimeout(() => heard.sending.resume(), 5);
      return false;
    };
    send(list, {}, heard);
    expect((await heard.over).failure).toBe(null);
    expect(heard.text).toBe(Array.from({ length: 20 }, (_, index) => `${index};`.repeat(100)).join(''));
  });

  it('that closes behind an answer whose reader is paused is not asked again on that connection', async () => {
    const body = 'x'.repeat(30_000);
    await start(
      (socket, _request, index) => {
        if (index === 0) socket.end(whole(body));
        else socket.write(whole('second'));
      },
      'localhost',
      vendor.cert,
    );
    const heard = new Heard();
    heard.goesOn = () => false;
    send(list, {}, heard);
    await expect.poll(() => heard.chunks.length).toBe(1);
    await delay(50);
    heard.goesOn = () => true;
    heard.sending.resume();
    await heard.over;
    expect({ failure: heard.failure, length: heard.text.length }).toEqual({ failure: null, length: body.length });
    await delay(20);
    expect((await send(list).over).text).toBe('second');
  });

  it('that breaks off is reset', async () => {
    await start((socket) => void socket.destroy(), 'localhost', vendor.cert);
    expect((await send(list).over).failure).toMatchObject({ reason: 'reset' });
  });

  it('given up during the handshake leaves nothing', async () => {
    await start(hello, 'localhost', vendor.cert);
    const heard = send(list);
    await delay(1);
    heard.sending.abort();
    await delay(30);
    expect({ events: heard.events, requests: server.requests }).toEqual({ events: [], requests: [] });
  });
});
