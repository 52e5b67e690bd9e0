/** Child processes of the benches: pinned to a core, their CPU time and memory read from /proc. */
import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Measured {
  readonly name: string;
  readonly pid: number;
  readonly url: string;
  readonly key: string;
  /** Sends a question to the process and waits for its answer. */
  ask(question: object): Promise<unknown>;
  stop(): Promise<void>;
}

const ticksPerSecond = 100;

/** The proxies have core 0 for themselves, load and vendor share the last one. */
export const proxyCore = '0';
export const loadCore = (() => {
  const count = existsSync('/proc/cpuinfo')
    ? (readFileSync('/proc/cpuinfo', 'utf8').match(/^processor/gm)?.length ?? 1)
    : 1;
  return String(Math.max(0, count - 1));
})();

export function pin(pid: number, core: string): boolean {
  try {
    execFileSync('taskset', ['-a', '-cp', core, String(pid)], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

interface Ready {
  readonly port: number;
  readonly key?: string;
}

export async function startProcess(
  name: string,
  file: string,
  args: readonly string[],
  core: string,
): Promise<Measured> {
  const child: ChildProcess = fork(fileURLToPath(new URL(file, import.meta.url)), args, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execArgv: ['--expose-gc'],
  });
  const ready = await new Promise<Ready>((resolve, reject) => {
    child.once('message', (message) => resolve(message as Ready));
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code} before it was ready`)));
  });
  pin(child.pid!, core);
  return {
    name,
    pid: child.pid!,
    url: `http://127.0.0.1:${ready.port}`,
    key: ready.key ?? '',
    ask: (question) =>
      new Promise((resolve, reject) => {
        child.once('message', (message) => {
          const { result, error } = message as { result?: unknown; error?: string };
          if (error === undefined) resolve(result);
          else reject(new Error(error));
        });
        child.send(question);
      }),
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.disconnect();
      }),
  };
}

/** CPU µs that a process (all its threads; for nginx its workers too) has used so far. */
export function cpuMicroseconds(pids: readonly number[]): number {
  let ticks = 0;
  for (const pid of pids) {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return (ticks * 1_000_000) / ticksPerSecond;
}

/** Memory in use: garbage is collected first. */
export async function usedBytes(target: Measured): Promise<number> {
  await target.ask({ ask: 'collect' });
  return residentBytes(target.pid);
}

export function residentBytes(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096;
}

/** Makes the kernel forget the highest memory so far. */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** The most memory that was resident since `resetPeak`. */
export function peakBytes(pid: number): number {
  const found = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(found?.[1] ?? 0) * 1024;
}
