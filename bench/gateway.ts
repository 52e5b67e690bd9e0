/** The gateway under test: the top level's configuration with its vendor replaced, the full chain, and chains cut short. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { packageRoot } from '../engine/config/index.ts';
import { startGateway } from '../engine/gateway.ts';
import { silentLog } from '../engine/observe/log.ts';
import { builtIns } from '../plugins/index.ts';
import { collectGarbage } from './garbage.ts';
import { steps } from './steps.ts';

const generous = { requestsPerMinute: 1_000_000_000, tokensPerMinute: 1_000_000_000_000, concurrency: 1_000_000 };

// biome-ignore lint/suspicious/noExplicitAny: YAML documents of any shape
type Document = any;

async function document(name: string): Promise<Document> {
  return parse(await readFile(join(packageRoot(), `${name}.yaml`), 'utf8'));
}

async function writeConfiguration(folder: string, upstream: string): Promise<void> {
  const [gateway, routes, channels, models] = await Promise.all(
    ['gateway', 'routes', 'channels', 'models'].map(document),
  );
  const channel = { baseUrl: `${upstream}/v1`, credentials: ['bench'], groups: ['default'] };
  channels.channels = {
    bench: {
      ...channel,
      vendor: 'openai',
      models: {
        'demo-chat': 'gpt-4.1-mini',
        'alpha-image-1k': 'gpt-image-2',
        'demo-embedding': 'text-embedding-3-small',
        'demo-whisper': 'whisper-1',
        'demo-tts': 'tts-1',
        'demo-realtime': 'gpt-realtime',
      },
    },
    'bench-messages': { ...channel, vendor: 'anthropic', models: { 'demo-claude': 'claude-sonnet-5-5' } },
  };
  channels.groups.default.limits = generous;
  const chat = routes.routes.find((route: Document) => route.path === '/v1/chat/completions');
  for (const [index, chain] of steps.entries()) {
    routes.chains[`step${index}`] = chain;
    routes.routes.push({ ...chat, path: `/step${index}/v1/chat/completions`, chain: `step${index}` });
  }
  for (const [name, value] of Object.entries({ gateway, routes, channels, models }))
    await writeFile(join(folder, `${name}.yaml`), stringify(value));
}

const folder = await mkdtemp(join(tmpdir(), 'gateway-bench-'));
await writeConfiguration(folder, process.argv[2]!);
const running = await startGateway({ folder, builtIns, log: silentLog, dataDirectory: join(folder, 'data'), port: 0 });
const user = await running.ledger.accounts.createUser({ name: 'bench' });
await running.ledger.accounts.credit(user.id, 1_000_000_000_000_000, 'bench');
const { secret } = await running.ledger.accounts.createKey({ userId: user.id, name: 'bench', group: 'default' });

const answers = {
  reload: () => running.reload(),
  audit: () => running.ledger.flush().then(() => running.ledger.accounts.audit()),
  collect: () => collectGarbage(),
};

process.on('message', (message: { readonly ask: keyof typeof answers }) => {
  const work: Promise<unknown> = answers[message.ask]();
  work.then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.on('disconnect', () => {
  void running
    .close()
    .then(() => rm(folder, { recursive: true, force: true }))
    .finally(() => process.exit(0));
});
process.send?.({ port: Number(new URL(running.url).port), key: secret });
