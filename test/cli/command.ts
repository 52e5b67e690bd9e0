/** Runs the built `gateway` command as its users do: another process, its exit code, what it prints. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll } from 'vitest';

const main = resolve(import.meta.dirname, '../../dist/engine/main.js');

/** Four small files that every test may read. */
export const configuration = join(import.meta.dirname, 'configuration');

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly output: { stdout: string; stderr: string };
  readonly finished: Promise<Finished>;
  /** Resolves when `text` matches on the stream; throws when the process ends before. */
  until(stream: 'stdout' | 'stderr', text: RegExp): Promise<RegExpExecArray>;
}

export interface RunOptions {
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** Nothing of the machine's environment but what a process needs. */
const environmentWith = (own: RunOptions['environment']) => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  ...own,
});

const started: Pick<Running, 'child' | 'finished'>[] = [];
const folders: string[] = [];
let isCleaned = false;

/**
 * For the top of each test file that uses this: what its tests start and make ends with the file, since they may run at
 * the same time. (This module is loaded once for many files.)
 */
export function cleanUpAfterAll(): void {
  isCleaned = true;
  afterAll(async () => {
    isCleaned = false;
    const running = started.splice(0);
    for (const { child } of running) child.kill('SIGKILL');
    await Promise.all(running.map(({ finished }) => finished));
    await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
  });
}

function expectCleaning(): void {
  if (!isCleaned) throw new Error('The test file does not call cleanUpAfterAll().');
}

export const start = (words: readonly string[], options: RunOptions = {}): Running =>
  startProgram(main, words, options);

/** Any module. */
export function startProgram(module: string, words: readonly string[], options: RunOptions = {}): Running {
  expectCleaning();
  const child = spawn(process.execPath, [module, ...words], {
    env: environmentWith(options.environment),
    cwd: options.cwd ?? configuration,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  const listeners = new Set<() => void>();
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text;
      for (const listener of listeners) listener();
    });
  }
  child.stdin.on('error', () => {}); // a command that reads no input may have ended
  child.stdin.end(options.input ?? '');
  const finished = new Promise<Finished>((done) => child.once('close', (code) => done({ code, ...output })));
  const until: Running['until'] = (stream, text) =>
    new Promise((found, reject) => {
      const look = () => {
        const match = text.exec(output[stream]);
        if (match !== null) found(match);
      };
      listeners.add(look);
      look();
      void finished.then(({ code }) => reject(new Error(`ended with ${code}: ${output.stdout}${output.stderr}`)));
    });
  started.push({ child, finished });
  return { child, output, finished, until };
}

export const run = (words: readonly string[], options: RunOptions = {}): Promise<Finished> =>
  start(words, options).finished;

export async function temporaryFolder(): Promise<string> {
  expectCleaning();
  const folder = await mkdtemp(join(tmpdir(), 'gateway-cli-'));
  folders.push(folder);
  return folder;
}

/** For `--body`. */
export async function bodyFile(body: object): Promise<string> {
  const file = join(await temporaryFolder(), 'body.json');
  await writeFile(file, JSON.stringify(body));
  return file;
}
