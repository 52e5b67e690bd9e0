/** Runs one of the process files beside this one, and ends it with the test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

export interface Child {
  readonly pid: number;
  /** Lines of standard output so far. */
  readonly lines: string[];
  /** Resolves when so many lines are there; rejects when the process ends before. */
  reach(count: number): Promise<void>;
  kill(): Promise<void>;
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>;
}

/** `before` is shell text that runs before the process, in the same process (`ulimit -f 100`). */
export function startChild(file: string, parameters: readonly string[], before = ':'): Child {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn('bash', ['-c', `${before}; exec "$0" "$@"`, process.execPath, path, ...parameters], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return follow(child);
}

function follow(child: ChildProcess): Child {
  const lines: string[] = [];
  let rest = '';
  let faults = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop()!;
    for (const line of parts) lines.push(line);
  });
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    faults += text;
  });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const reach = async (count: number) => {
    const early = ended.then((code) => {
      if (lines.length < count)
        throw new Error(`The process ended with ${code} after ${lines.length} lines: ${faults}`);
    });
    while (lines.length < count) {
      await Promise.race([early, new Promise((resolve) => child.stdout!.once('data', resolve))]);
    }
  };
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  return { pid: child.pid!, lines, reach, kill, ended };
}
