/** Sound up and down: what a gateway keeps of it in memory must not grow with its length. */
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { type Bench, note, startFresh, wait } from '../bench.ts';
import { cpuMicroseconds, type Measured, peakBytes, resetPeak, usedBytes } from '../processes.ts';
import { type Row, row } from '../results.ts';

const megabyte = 1024 * 1024;
const atOnce = 8;
const piece = Buffer.alloc(64 * 1024, 0x5a);
const boundary = 'bench-boundary';
const part = (name: string, value: string) =>
  `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const opening = Buffer.from(
  `${part('model', 'demo-whisper')}--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="speech.mp3"\r\ncontent-type: audio/mpeg\r\n\r\n`,
);
const closing = Buffer.from(`\r\n--${boundary}--\r\n`);

interface Answer {
  readonly status: number;
  readonly bytes: number;
}

function open(target: Measured, path: string, headers: Record<string, string | number>): ClientRequest {
  return request(`${target.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${target.key}`, ...headers },
    agent: false,
  });
}

/** Reads the answer and throws it away, as it comes. */
function finish(sending: ClientRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    sending.on('error', reject);
    sending.on('response', (response: IncomingMessage) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode!, bytes }));
    });
  });
}

function upload(target: Measured, size: number): Promise<Answer> {
  const sending = open(target, '/v1/audio/transcriptions', {
    'content-type': `multipart/form-data; boundary=${boundary}`,
    'content-length': opening.length + size + closing.length,
  });
  let left = size;
  const pump = (): void => {
    while (left > 0) {
      const next = piece.subarray(0, Math.min(piece.length, left));
      left -= next.length;
      if (!sending.write(next)) return void sending.once('drain', pump);
    }
    sending.end(closing);
  };
  sending.write(opening);
  pump();
  return finish(sending);
}

function download(target: Measured, size: number): Promise<Answer> {
  const sending = open(target, '/v1/audio/speech', { 'content-type': 'application/json' });
  sending.end(JSON.stringify({ model: 'demo-tts', voice: 'alloy', input: `[bytes=${size}]` }));
  return finish(sending);
}

interface Peak {
  readonly megabytes: number;
  readonly cpuPerMegabyte: number;
}

type Transfer = (target: Measured, size: number) => Promise<Answer>;

async function measure(target: Measured, transfer: Transfer, size: number, times: number): Promise<Peak> {
  await wait(500);
  resetPeak(target.pid);
  const cpu = cpuMicroseconds([target.pid]);
  for (let time = 0; time < times; time++) {
    const answers = await Promise.all(Array.from({ length: atOnce }, () => transfer(target, size)));
    const failed = answers.find(({ status }) => status !== 200);
    if (failed !== undefined) throw new Error(`sound was answered with status ${failed.status}`);
  }
  const used = cpuMicroseconds([target.pid]) - cpu;
  return {
    megabytes: peakBytes(target.pid) / megabyte,
    cpuPerMegabyte: used / ((size * atOnce * times) / megabyte),
  };
}

/** All of one body, held in memory, would show. */
const tolerated = 20;

async function rowsOf(bench: Bench, what: string, transfer: Transfer): Promise<Row[]> {
  note(what);
  const target = await startFresh(bench, 'gateway');
  const times = bench.quick ? 1 : 5;
  await measure(target, transfer, 2 * megabyte, times);
  const idle = (await usedBytes(target)) / megabyte;
  const small = await measure(target, transfer, 2 * megabyte, 10 * times);
  const large = await measure(target, transfer, 20 * megabyte, times);
  await target.stop();
  const met = large.megabytes <= small.megabytes + tolerated;
  return [
    row(what, 'peak MB over idle, 2 MB each', { gateway: small.megabytes - idle }),
    row(what, 'peak MB over idle, 20 MB each', {
      gateway: large.megabytes - idle,
      goal: `≤ the 2 MB ones + ${tolerated}`,
      met,
    }),
    row(what, 'CPU µs / MB, 20 MB each', { gateway: large.cpuPerMegabyte }),
  ];
}

export async function audio(bench: Bench): Promise<Row[]> {
  return [
    ...(await rowsOf(bench, `audio upload, ${atOnce} at once`, upload)),
    ...(await rowsOf(bench, `speech download, ${atOnce} at once`, download)),
  ];
}
