/** The yardstick: uWS in front, undici's `dispatch` with a plain handler object behind, nothing between. */
import uWS from 'uWebSockets.js';
import { Client } from 'undici';
import { collectGarbage } from './garbage.ts';

const origin = process.argv[2]!;
const idle: Client[] = [];

function relay(response: uWS.HttpResponse, path: string, body: Buffer, left: () => boolean): void {
  const client = idle.pop() ?? new Client(origin, { pipelining: 1, maxResponseSize: -1 });
  let resume = () => {};
  let chunks: Buffer[] = [];
  let streaming = false;
  let headers: Buffer[] = [];
  let begun = false;
  const writeHead = () => {
    if (begun) return;
    begun = true;
    response.writeHeader('content-type', headerOf(headers, 'content-type'));
  };
  client.dispatch(
    { method: 'POST', path, headers: ['content-type', 'application/json', 'authorization', 'Bearer bench'], body },
    {
      onConnect() {},
      onHeaders(_status, raw, resumeNative) {
        headers = raw;
        resume = resumeNative;
        streaming = headerOf(raw, 'content-type').startsWith('text/event-stream');
        return true;
      },
      onData(chunk) {
        if (left()) return true;
        if (!streaming) {
          chunks.push(chunk);
          return true;
        }
        let fits = true;
        response.cork(() => {
          writeHead();
          fits = response.write(chunk);
        });
        if (!fits) {
          response.onWritable(() => {
            resume();
            return true;
          });
        }
        return fits;
      },
      onComplete() {
        idle.push(client);
        if (left()) return;
        response.cork(() => {
          writeHead();
          if (streaming) response.end();
          else response.end(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
        });
        chunks = [];
      },
      onError() {
        idle.push(client);
        if (!left()) response.close();
      },
    },
  );
}

function headerOf(headers: readonly Buffer[], name: string): string {
  for (let index = 0; index < headers.length; index += 2) {
    if (headers[index]!.toString('latin1').toLowerCase() === name) return headers[index + 1]!.toString('latin1');
  }
  return '';
}

uWS
  .App()
  .any('/*', (response, request) => {
    const path = request.getUrl();
    const chunks: Buffer[] = [];
    let gone = false;
    response.onAborted(() => {
      gone = true;
    });
    response.onData((chunk, isLast) => {
      chunks.push(Buffer.from(Buffer.from(chunk)));
      if (isLast) relay(response, path, chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks), () => gone);
    });
  })
  .listen('127.0.0.1', 0, (socket) => {
    process.send?.({ port: uWS.us_socket_local_port(socket) });
  });
process.on('message', () => void collectGarbage().then(() => process.send?.({ result: null })));
process.on('disconnect', () => process.exit(0));
