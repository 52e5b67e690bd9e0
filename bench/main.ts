#!/usr/bin/env node
/** `npm run bench`: one run, one table; every figure beside the bare pass-through measured in the same minutes. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { packageRoot } from '../engine/config/index.ts';
import type { Bench } from './bench.ts';
import { startNginx } from './nginx.ts';
import { audio } from './parts/audio.ts';
import { smallChat, streamedChat } from './parts/chat.ts';
import { embeddings } from './parts/embeddings.ts';
import { images } from './parts/images.ts';
import { realtime } from './parts/realtime.ts';
import { reloads } from './parts/reloads.ts';
import { slowStreams } from './parts/slow-streams.ts';
import { measureStages } from './parts/stages.ts';
import { translated } from './parts/translated.ts';
import { loadCore, pin, proxyCore, startProcess } from './processes.ts';
import { type Row, renderResults, type Stage } from './results.ts';

/** In the order of the table. */
const parts: Readonly<Record<string, (bench: Bench) => Promise<Row[]>>> = {
  chat: smallChat,
  streamed: streamedChat,
  translated,
  slow: slowStreams,
  images,
  embeddings,
  audio,
  realtime,
  reloads,
};
const names = [...Object.keys(parts), 'stages'];

const help = `npm run bench [-- --quick] [-- --only NAMES] [-- --write]

  --quick       one short round of each
  --only NAMES  some parts only, with commas between them: ${names.join(', ')}
  --write       also writes bench/RESULTS.md (of a whole run)
`;

function readArguments() {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      only: { type: 'string' },
    },
  });
  const wanted = values.only?.split(',') ?? names;
  const unknown = wanted.filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new Error(`There is no part ${unknown.join(', ')}; there are ${names.join(', ')}.`);
  if (values.write && values.only !== undefined) throw new Error('--write needs all parts: leave --only out.');
  return { ...values, wanted };
}

function argumentsOrExit() {
  try {
    const told = readArguments();
    if (!told.help) return told;
    process.stdout.write(help);
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${help}`);
    process.exit(2);
  }
}

const { quick, write, wanted } = argumentsOrExit();
pin(process.pid, loadCore);
const upstream = await startProcess('vendor', './upstream.js', [], loadCore);
const bare = await startProcess('bare', './bare.js', [upstream.url], proxyCore);
const gateway = await startProcess('gateway', './gateway.js', [upstream.url], proxyCore);
const nginx = await startNginx(upstream.url);
const bench: Bench = { quick, rounds: quick ? 1 : 5, seconds: quick ? 2 : 4, upstream, bare, gateway, nginx };

const rows: Row[] = [];
for (const [name, measure] of Object.entries(parts)) if (wanted.includes(name)) rows.push(...(await measure(bench)));
const stages: Stage[] = wanted.includes('stages') ? await measureStages(bench) : [];

const audit = (await gateway.ask({ ask: 'audit' })) as { readonly ok: boolean };
const conditions = { rounds: bench.rounds, seconds: bench.seconds, nginx: nginx !== null };
const text = renderResults(rows, stages, audit.ok, conditions);
process.stdout.write(text);
if (write) writeFileSync(join(packageRoot(), 'bench', 'RESULTS.md'), text);
await Promise.all([bare, gateway, upstream, ...(nginx === null ? [] : [nginx])].map((one) => one.stop()));
