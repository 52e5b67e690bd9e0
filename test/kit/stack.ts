/** A whole gateway for a test: its own configuration and data folders, the simulator as vendor, a user with a key. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { packageRoot } from '../../engine/config/index.ts';
import type { UsageRow } from '../../engine/contract/usage.ts';
import type { Log } from '../../engine/contract/values.ts';
import { type RunningGateway, startGateway } from '../../engine/gateway.ts';
import { silentLog } from '../../engine/observe/log.ts';
import { builtIns } from '../../plugins/index.ts';
import { type Simulator, startSimulator } from '../../simulator/index.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests change YAML documents of any shape
export type Documents = Record<'gateway' | 'routes' | 'channels' | 'models', any>;

export interface StackOptions {
  /** Changes the parsed files of the top level before they are written. */
  readonly edit?: (documents: Documents) => void;
  /** USD units for the first user; default 100 USD. */
  readonly balance?: number;
  readonly log?: Log;
  /** ms between comments in an image stream that waits. */
  readonly heartbeat?: number;
}

export interface NewKey {
  readonly group?: string;
  readonly models?: readonly string[];
  readonly quota?: number;
  readonly expiresAt?: number;
  readonly limits?: { requestsPerMinute?: number; tokensPerMinute?: number; concurrency?: number };
}

export interface Stack {
  readonly gateway: RunningGateway;
  readonly simulator: Simulator;
  /** `http://127.0.0.1:port/v1` */
  readonly base: string;
  readonly key: string;
  readonly userId: number;
  readonly folder: string;
  readonly data: string;
  createKey(options?: NewKey): Promise<string>;
  /** Rewrites the configuration files; the caller awaits `gateway.reload()`. */
  rewrite(edit: (documents: Documents) => void): Promise<void>;
  /** POST with the stack's key. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** The usage rows, newest first, once everything is in the database. */
  usage(): Promise<readonly UsageRow[]>;
  close(): Promise<void>;
}

const names = ['gateway', 'routes', 'channels', 'models'] as const;

const readDocuments = async (): Promise<Documents> => {
  const texts = await Promise.all(names.map((name) => readFile(join(packageRoot(), `${name}.yaml`), 'utf8')));
  return Object.fromEntries(names.map((name, index) => [name, parse(texts[index]!)])) as Documents;
};

/** As they are in the repository; read once, since YAML is slow. */
let pristine: Promise<Documents> | null = null;
/** YAML of documents, by their JSON: most tests leave most documents as they are. */
const written = new Map<string, string>();

function yamlOf(document: unknown): string {
  const json = JSON.stringify(document);
  const text = written.get(json) ?? stringify(document);
  written.set(json, text);
  return text;
}

async function writeDocuments(folder: string, documents: Documents): Promise<void> {
  for (const name of names) await writeFile(join(folder, `${name}.yaml`), yamlOf(documents[name]));
}

export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const simulator = await startSimulator();
  const folder = await mkdtemp(join(tmpdir(), 'gateway-test-'));
  const data = join(folder, 'data');
  pristine ??= readDocuments();
  const documents = structuredClone(await pristine);
  options.edit?.(documents);
  await writeDocuments(folder, documents);
  const gateway = await startGateway({
    folder,
    builtIns,
    log: options.log ?? silentLog,
    dataDirectory: data,
    port: 0,
    environment: { SIMULATOR_URL: simulator.url },
    ...(options.heartbeat === undefined ? {} : { heartbeat: options.heartbeat }),
  });
  const { accounts } = gateway.ledger;
  const user = await accounts.createUser({ name: 'tester' });
  await accounts.credit(user.id, options.balance ?? 50_000_000, 'test');
  const createKey = async ({ group = 'default', ...rest }: NewKey = {}) =>
    (await accounts.createKey({ userId: user.id, name: 'test', group, ...rest })).secret;
  const key = await createKey();
  const base = `${gateway.url}/v1`;
  return {
    gateway,
    simulator,
    base,
    key,
    userId: user.id,
    folder,
    data,
    createKey,
    async rewrite(edit) {
      edit(documents);
      await writeDocuments(folder, documents);
    },
    post: (path, body, headers = {}) =>
      fetch(`${base}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    async usage() {
      await gateway.ledger.flush();
      return accounts.usage({ limit: 100 });
    },
    async close() {
      await gateway.close();
      await simulator.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
