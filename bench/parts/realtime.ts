/** Many realtime sessions: memory per session and CPU per event. */
import { type Bench, note, startFresh, wait } from '../bench.ts';
import { cpuMicroseconds, type Measured, usedBytes } from '../processes.ts';
import { RealtimeClient } from '../realtime-client.ts';
import { type Row, row } from '../results.ts';

/** One answer: its beginning, the sound, the end. */
const eventsOf = (chunks: number) => chunks + 2;

async function openAll(target: Measured, count: number): Promise<RealtimeClient[]> {
  const clients: RealtimeClient[] = [];
  for (let index = 0; index < count; index++) {
    clients.push(new RealtimeClient(target));
    if (index % 25 === 24) await wait(20);
  }
  await Promise.all(clients.map((client) => client.seen(1)));
  return clients;
}

/** All sessions ask, and hear the whole answer; CPU µs per event. */
async function converse(target: Measured, clients: readonly RealtimeClient[], chunks: number): Promise<number> {
  const cpu = cpuMicroseconds([target.pid]);
  await Promise.all(clients.map((client) => client.ask(chunks, eventsOf(chunks))));
  return (cpuMicroseconds([target.pid]) - cpu) / (clients.length * eventsOf(chunks));
}

export async function realtime(bench: Bench): Promise<Row[]> {
  const count = bench.quick ? 100 : 500;
  const chunks = bench.quick ? 20 : 60;
  const what = `${count} realtime sessions`;
  note(what);
  const target = await startFresh(bench, 'gateway');
  const first = await openAll(target, 20);
  await converse(target, first, chunks);
  for (const client of first) client.close();
  await wait(500);
  const before = await usedBytes(target);
  const clients = await openAll(target, count);
  await wait(500);
  const idle = ((await usedBytes(target)) - before) / count / 1024;
  await converse(target, clients, chunks);
  const cpu = await converse(target, clients, chunks);
  const busy = ((await usedBytes(target)) - before) / count / 1024;
  for (const client of clients) client.close();
  await wait(1000);
  await target.stop();
  return [
    row(what, 'KB / session, silent', { gateway: idle }),
    row(what, 'KB / session, after an answer', { gateway: busy }),
    row(what, 'CPU µs / event of 6.5 KB', { gateway: cpu }),
  ];
}
