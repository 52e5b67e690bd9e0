/** The vendor of the benches: canned answers over uWS, as cheap as can be, so that the proxies are what is measured. */
import uWS from 'uWebSockets.js';
import { speak, transcription } from './vendor/audio.ts';
import { chatScript, wholeChat } from './vendor/chat.ts';
import { messagesScript } from './vendor/messages.ts';
import { serveRealtime } from './vendor/realtime.ts';
import { play } from './vendor/stream.ts';

/** A PNG header, then noise: what a picture of this size weighs. */
const png = Buffer.alloc(786_432, 0x5a);
Buffer.from('89504e470d0a1a0a0000000d49484452000004000000040008020000000000000000', 'hex').copy(png);
const image = `{"created":1790000000,"size":"1024x1024","quality":"high","output_format":"png","background":"opaque","data":[{"b64_json":"${png.toString('base64')}"}],"usage":{"input_tokens":14,"input_tokens_details":{"text_tokens":14,"image_tokens":0},"output_tokens":4160,"total_tokens":4174}}`;

const numbers = Array.from({ length: 1536 }, (_, index) => (Math.sin(index) / 20).toFixed(9));
const embedding = `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[${numbers.join(',')}]}],"model":"text-embedding-3-small","usage":{"prompt_tokens":90,"total_tokens":90}}`;

function sendJson(response: uWS.HttpResponse, body: string): void {
  response.cork(() => response.writeHeader('content-type', 'application/json').end(body));
}

/** The start of the body tells what to send; of sound only the length matters. */
const longestRead = 64 * 1024;

function readThen(response: uWS.HttpResponse, then: (body: string) => void): void {
  let body = '';
  response.onAborted(() => {});
  response.onData((chunk, isLast) => {
    if (body.length < longestRead) body += Buffer.from(chunk).toString('latin1');
    if (isLast) then(body);
  });
}

const answering = (answer: (response: uWS.HttpResponse, body: string) => void) => (response: uWS.HttpResponse) =>
  readThen(response, (body) => answer(response, body));

const app = uWS.App();
serveRealtime(app);
app
  .post(
    '/v1/chat/completions',
    answering((response, body) => {
      if (body.includes('"stream":true')) play(response, body, chatScript);
      else sendJson(response, wholeChat);
    }),
  )
  .post(
    '/v1/messages',
    answering((response, body) => play(response, body, messagesScript)),
  )
  .post(
    '/v1/images/generations',
    answering((response) => sendJson(response, image)),
  )
  .post(
    '/v1/embeddings',
    answering((response) => sendJson(response, embedding)),
  )
  .post(
    '/v1/audio/transcriptions',
    answering((response) => sendJson(response, transcription)),
  )
  .post('/v1/audio/speech', answering(speak))
  .listen('127.0.0.1', 0, (socket) => {
    process.send?.({ port: uWS.us_socket_local_port(socket) });
  });
process.on('disconnect', () => process.exit(0));
