/** Many slow streams at once, over plain sockets: memory per stream and the delay that a proxy adds to each chunk. */
import { connect, type Socket } from 'node:net';
import { type Bench, note, startFresh, wait } from '../bench.ts';
import { percentile } from '../load.ts';
import { cpuMicroseconds, type Measured, residentBytes, usedBytes } from '../processes.ts';
import { type Row, row } from '../results.ts';

interface StreamsResult {
  readonly bytesPerStream: number;
  /** ms from the vendor's write to the client's read. */
  readonly delayP50: number;
  readonly delayP99: number;
  /** Share of the proxy's core that was busy. */
  readonly busy: number;
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

/** Opens `count` streams of `chunks` chunks, one every `interval` ms. */
async function runStreams(target: Measured, count: number, chunks: number, interval: number): Promise<StreamsResult> {
  const body = JSON.stringify({
    model: 'demo-chat',
    stream: true,
    messages: [{ role: 'user', content: `[chunks=${chunks}] [delay=${interval}] [stamped]` }],
  });
  const before = await usedBytes(target);
  const streams: Stream[] = [];
  for (let index = 0; index < count; index++) {
    streams.push(new Stream(target, body));
    if (index % 50 === 49) await wait(20);
  }
  const cpuBefore = cpuMicroseconds([target.pid]);
  const started = performance.now();
  await wait((chunks * interval) / 2);
  // With its garbage: collecting it would hold all streams up.
  const resident = residentBytes(target.pid);
  const busy = (cpuMicroseconds([target.pid]) - cpuBefore) / (performance.now() - started) / 1000;
  await wait((chunks * interval) / 2 + 1500);
  const delays = streams.flatMap((stream) => stream.delays).sort((a, b) => a - b);
  const failures = streams.filter((stream) => !stream.ended).length;
  for (const stream of streams) stream.close();
  await wait(500);
  return {
    bytesPerStream: (resident - before) / count,
    delayP50: percentile(delays, 0.5),
    delayP99: percentile(delays, 0.99),
    busy,
    failures,
  };
}

/** ms between two chunks of a stream: 20,000 chunks a second, about half of what one core relays. */
const interval = 50;

export async function slowStreams(bench: Bench): Promise<Row[]> {
  const { quick } = bench;
  const count = quick ? 200 : 1000;
  const measure = async (name: 'bare' | 'gateway') => {
    note(`${count} slow streams: ${name}`);
    const fresh = await startFresh(bench, name);
    await runStreams(fresh, 20, quick ? 20 : 100, interval);
    const chunks = quick ? 40 : 200;
    // A heap that has held the streams before would hide their size; code that V8 has not compiled yet would delay them.
    const { bytesPerStream } = await runStreams(fresh, count, chunks, interval);
    const warm = await runStreams(fresh, count, chunks, interval);
    await fresh.stop();
    return { ...warm, bytesPerStream };
  };
  const bare = await measure('bare');
  const gateway = await measure('gateway');
  const what = `${count.toLocaleString('en')} slow streams`;
  const both = (figure: (one: StreamsResult) => number) => ({ bare: figure(bare), gateway: figure(gateway) });
  const memory = both((one) => one.bytesPerStream / 1024);
  const latest = both((one) => one.delayP99);
  const failed = both((one) => one.failures);
  return [
    row(what, 'KB / stream', {
      ...memory,
      ratio: memory.gateway / memory.bare,
      goal: '≤ 40 KB',
      met: memory.gateway <= 40,
    }),
    row(
      what,
      'core busy',
      both((one) => one.busy),
    ),
    row(
      what,
      'delay of a chunk p50, ms',
      both((one) => one.delayP50),
    ),
    row(what, 'delay of a chunk p99, ms', { ...latest, goal: '≤ bare + 1 ms', met: latest.gateway - latest.bare <= 1 }),
    row(what, 'failed', { ...failed, goal: '0', met: failed.gateway === 0 }),
  ];
}
