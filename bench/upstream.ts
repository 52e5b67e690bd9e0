/** The vendor of the benches: canned answers over uWS, as cheap as can be, so that the proxies are what is measured. */
import uWS from 'uWebSockets.js';

const id = '"id":"chatcmpl-bench","created":1790000000,"model":"gpt-4.1-mini"';
const usage =
  '"usage":{"prompt_tokens":12,"completion_tokens":100,"total_tokens":112,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}';
const whole = `{${id},"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"${'A short answer. '.repeat(20)}","refusal":null},"logprobs":null,"finish_reason":"stop"}],${usage}}`;
const chunkOf = (delta: string, finish: string) =>
  `data: {${id},"object":"chat.completion.chunk","choices":[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}],"usage":null}\n\n`;
const word = chunkOf('{"content":"a few words "}', 'null');
const last = chunkOf('{}', '"stop"');
const usageChunk = `data: {${id},"object":"chat.completion.chunk","choices":[],${usage}}\n\n`;
const done = 'data: [DONE]\n\n';
/** A PNG header, then noise: what a picture of this size weighs. */
const png = Buffer.alloc(786_432, 0x5a);
Buffer.from('89504e470d0a1a0a0000000d49484452000004000000040008020000000000000000', 'hex').copy(png);
const image = `{"created":1790000000,"size":"1024x1024","quality":"high","output_format":"png","background":"opaque","data":[{"b64_json":"${png.toString('base64')}"}],"usage":{"input_tokens":14,"input_tokens_details":{"text_tokens":14,"image_tokens":0},"output_tokens":4160,"total_tokens":4174}}`;

/** One stream: `count` chunks, one every `interval` ms, each stamped when `stamped`. */
class Stream {
  private readonly response: uWS.HttpResponse;
  private readonly total: number;
  private readonly stamped: boolean;
  private sent = 0;
  gone = false;

  constructor(response: uWS.HttpResponse, total: number, stamped: boolean) {
    this.response = response;
    this.total = total;
    this.stamped = stamped;
  }

  /** False when the stream is over. */
  next(): boolean {
    if (this.gone) return false;
    this.response.cork(() => {
      if (this.sent < this.total) this.response.write(this.stamped ? stampedChunk() : word);
      else this.response.end(last + usageChunk + done);
    });
    return this.sent++ < this.total;
  }
}

const stampedChunk = () => chunkOf(`{"content":"${process.hrtime.bigint()}"}`, 'null');

/** Streams of the same interval share one timer. */
const groups = new Map<number, Set<Stream>>();

function play(stream: Stream, interval: number): void {
  let group = groups.get(interval);
  if (group === undefined) {
    const created = new Set<Stream>();
    group = created;
    groups.set(interval, created);
    setInterval(() => {
      for (const one of created) if (!one.next()) created.delete(one);
    }, interval);
  }
  group.add(stream);
}

function number(body: string, name: string, fallback: number): number {
  const found = new RegExp(`\\[${name}=(\\d+)\\]`).exec(body);
  return found ? Number(found[1]) : fallback;
}

function answer(response: uWS.HttpResponse, body: string): void {
  if (!body.includes('"stream":true')) {
    response.cork(() => response.writeHeader('content-type', 'application/json').end(whole));
    return;
  }
  const stream = new Stream(response, number(body, 'chunks', 100), body.includes('[stamped]'));
  response.onAborted(() => {
    stream.gone = true;
  });
  response.cork(() => {
    response
      .writeHeader('content-type', 'text/event-stream')
      .write(chunkOf('{"role":"assistant","content":""}', 'null'));
  });
  play(stream, number(body, 'delay', 10));
}

function readThen(response: uWS.HttpResponse, then: (body: string) => void): void {
  let body = '';
  response.onAborted(() => {});
  response.onData((chunk, isLast) => {
    body += Buffer.from(chunk).toString('latin1');
    if (isLast) then(body);
  });
}

uWS
  .App()
  .post('/v1/chat/completions', (response) => readThen(response, (body) => answer(response, body)))
  .post('/v1/images/generations', (response) =>
    readThen(response, () => {
      response.cork(() => response.writeHeader('content-type', 'application/json').end(image));
    }),
  )
  .listen('127.0.0.1', 0, (socket) => {
    process.send?.({ port: uWS.us_socket_local_port(socket) });
  });
process.on('disconnect', () => process.exit(0));
