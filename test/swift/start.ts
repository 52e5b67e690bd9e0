/** Starts OpenStack Swift (Debian: swift-proxy, swift-account, swift-container, swift-object) as a real S3 server. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { proxyConfiguration, type SwiftPlace, storageConfiguration, storageServers } from './configuration.ts';

export interface Swift {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  stop(): Promise<void>;
}

const rings = fileURLToPath(new URL('./rings.py', import.meta.url));
const startWithin = 60_000;
const portSlots = 1_200;

const program = (name: string): string => `/usr/bin/swift-${name}-server`;

export const swiftInstalled = (): boolean => [...storageServers, 'proxy'].every((name) => existsSync(program(name)));

/** Listens on loopback only, keeps everything in a temporary folder that `stop` removes. */
export async function startSwift(): Promise<Swift> {
  const folder = await mkdtemp(join(tmpdir(), 'swift-'));
  const place = { folder, basePort: await freePorts(), account: 'test', user: 'tester', secret: 'testing' };
  const servers = await startServers(place);
  const killAll = () => {
    for (const server of servers) server.kill('SIGKILL');
  };
  process.once('exit', killAll);
  const stop = async () => {
    process.off('exit', killAll);
    await Promise.all(servers.map(terminate));
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await becomeHealthy(place, servers);
  } catch (error) {
    await stop();
    throw error;
  }
  const endpoint = `http://127.0.0.1:${place.basePort}`;
  return { endpoint, accessKeyId: `${place.account}:${place.user}`, secretAccessKey: place.secret, stop };
}

async function startServers(place: SwiftPlace): Promise<ChildProcess[]> {
  await mkdir(join(place.folder, 'node', 'disk'), { recursive: true });
  await promisify(execFile)('/usr/bin/python3', [rings, place.folder, String(place.basePort)]);
  for (const name of storageServers) await writeConfiguration(place, name, storageConfiguration(place, name));
  await writeConfiguration(place, 'proxy', proxyConfiguration(place));
  return Promise.all([...storageServers, 'proxy'].map((name) => startServer(place.folder, name)));
}

const writeConfiguration = (place: SwiftPlace, name: string, text: string): Promise<void> =>
  writeFile(join(place.folder, `${name}.conf`), text);

async function startServer(folder: string, name: string): Promise<ChildProcess> {
  const log = await open(join(folder, `${name}.log`), 'w');
  try {
    const output = log.fd;
    return spawn(program(name), [join(folder, `${name}.conf`), '-v'], {
      stdio: ['ignore', output, output],
    });
  } finally {
    await log.close();
  }
}

/**
 * Below 32768, where the system does not hand out ports by itself; five in a row that nobody answers on. It begins at
 * the process id, so that test files that start Swift at the same moment do not choose the same.
 */
async function freePorts(): Promise<number> {
  for (let attempt = 0; attempt < portSlots; attempt += 1) {
    const base = 20_000 + 10 * ((process.pid + 7 * attempt) % portSlots);
    const used = await Promise.all([0, 1, 2, 3, 4].map((offset) => answers(base + offset)));
    if (!used.includes(true)) return base;
  }
  throw new Error('No five ports in a row are free between 20000 and 32000.');
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

async function becomeHealthy({ folder, basePort }: SwiftPlace, servers: readonly ChildProcess[]): Promise<void> {
  const deadline = Date.now() + startWithin;
  while (Date.now() < deadline) {
    if (servers.some((server) => server.exitCode !== null)) break;
    const ready = await Promise.all([1, 2, 3].map((offset) => answers(basePort + offset)));
    if (!ready.includes(false) && (await isHealthy(basePort))) return;
    await sleep(50);
  }
  const logs = await Promise.all(
    [...storageServers, 'proxy'].map((name) => readFile(join(folder, `${name}.log`), 'utf8')),
  );
  throw new Error(`Swift did not start:\n${logs.join('\n')}`);
}

async function isHealthy(port: number): Promise<boolean> {
  try {
    const reply = await fetch(`http://127.0.0.1:${port}/healthcheck`, { signal: AbortSignal.timeout(1_000) });
    return (await reply.text()) === 'OK';
  } catch {
    return false; // not listening yet
  }
}

async function terminate(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = new Promise((resolve) => server.once('exit', resolve));
  server.kill('SIGTERM');
  const patience = setTimeout(() => server.kill('SIGKILL'), 5_000);
  await ended;
  clearTimeout(patience);
}
