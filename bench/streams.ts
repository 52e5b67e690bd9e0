/** Many slow streams at once, over plain sockets: memory per stream and the delay that a proxy adds to each chunk. */
import { connect, type Socket } from 'node:net';
import { percentile } from './load.ts';
import { cpuMicroseconds, type Measured, residentBytes } from './processes.ts';

export interface StreamsResult {
  readonly bytesPerStream: number;
  /** ms from the vendor's write to the client's read. */
  readonly delayP50: number;
  readonly delayP99: number;
  readonly cpuPerChunk: number;
  readonly chunks: number;
  readonly failures: number;
}

const stamp = /"content":"(\d+)"/g;

class Stream {
  readonly delays: number[] = [];
  ended = false;
  private readonly socket: Socket;
  private tail = '';

  constructor(target: Measured, body: string) {
    const url = new URL(target.url);
    this.socket = connect(Number(url.port), url.hostname);
    this.socket.setNoDelay(true);
    this.socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: ${url.host}\r\ncontent-type: application/json\r\nauthorization: Bearer ${target.key}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    this.socket.on('data', (chunk) => this.read(chunk));
    this.socket.on('error', () => {});
  }

  close(): void {
    this.socket.destroy();
  }

  private read(chunk: Buffer): void {
    const now = process.hrtime.bigint();
    const text = this.tail + chunk.toString('latin1');
    let end = 0;
    for (const match of text.matchAll(stamp)) {
      this.delays.push(Number(now - BigInt(match[1]!)) / 1e6);
      end = match.index + match[0].length;
    }
    if (text.includes('[DONE]')) this.ended = true;
    this.tail = text.slice(Math.max(end, text.length - 200));
  }
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Opens `count` streams of `chunks` chunks, one every `interval` ms. */
export async function runStreams(
  target: Measured,
  count: number,
  chunks: number,
  interval: number,
): Promise<StreamsResult> {
  const body = JSON.stringify({
    model: 'demo-chat',
    stream: true,
    messages: [{ role: 'user', content: `[chunks=${chunks}] [delay=${interval}] [stamped]` }],
  });
  const before = residentBytes(target.pid);
  const cpuBefore = cpuMicroseconds([target.pid]);
  const streams: Stream[] = [];
  for (let index = 0; index < count; index++) {
    streams.push(new Stream(target, body));
    if (index % 50 === 49) await wait(20);
  }
  await wait((chunks * interval) / 2);
  const resident = residentBytes(target.pid);
  await wait((chunks * interval) / 2 + 1500);
  const cpu = cpuMicroseconds([target.pid]) - cpuBefore;
  const delays = streams.flatMap((stream) => stream.delays).sort((a, b) => a - b);
  const failures = streams.filter((stream) => !stream.ended).length;
  for (const stream of streams) stream.close();
  await wait(500);
  return {
    bytesPerStream: (resident - before) / count,
    delayP50: percentile(delays, 0.5),
    delayP99: percentile(delays, 0.99),
    cpuPerChunk: cpu / Math.max(1, delays.length),
    chunks: delays.length,
    failures,
  };
}
