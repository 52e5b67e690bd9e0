/** What the documents say is run: ```sh blocks as they stand, ```yaml blocks that name a file laid over that file. */
import { spawn, spawnSync } from 'node:child_process';
import { cp, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cleanUpAfterAll, start, startProgram, temporaryFolder } from '../cli/command.ts';
import { type Block, blocksOf, readDocument, root } from './blocks.ts';

cleanUpAfterAll();

const has = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

/**
 * `npx gateway` of the clone is the built command, in one process for all that do not read standard input; what `npm`
 * would build is built.
 */
const prelude = `set -Eeuo pipefail
trap 'echo "line \${line:-0}: $BASH_COMMAND" >&2' ERR
npx() {
  shift
  case " $* " in *' - '*) node ${root}/dist/engine/main.js "$@"; return ;; esac
  local code
  code=$(printf '%s\\0' "$PWD" "$@" | command curl -sS --data-binary @- "$COMMANDS")
  cat "$OUTPUT/stdout"
  cat "$OUTPUT/stderr" >&2
  return "$code"
}
npm() { :; }
curl() { command curl --fail-with-body "$@"; }
`;

/** For documents that tell their readers to put a key there. */
const keyGiven = `npx gateway users create reader-of-documents > said
npx gateway users credit reader-of-documents 20.00 > said
KEY=$(npx gateway keys create reader-of-documents)
`;

/** Null: nothing to run here. */
function scriptOf({ language, note, text, line }: Block, gateway: string): string | null {
  if (language === 'sh' && (note === '' || has(note))) return `line=${line}\n${text}`;
  const file = language === 'yaml' ? /^# (\w+\.yaml)\n/.exec(text)?.[1] : undefined;
  if (file === undefined) return null;
  return `line=${line}\nnode ${root}/test/docs/apply.mjs ${file} ${gateway} <<'YAML'\n${text}YAML\n`;
}

/** A folder with the four files, the simulated vendors and a gateway on them, as the documents have it. */
async function startEverything(): Promise<{ readonly folder: string; readonly gateway: string }> {
  const folder = await temporaryFolder();
  const files = (await readdir(root)).filter((name) => name.endsWith('.yaml'));
  for (const name of files) await cp(join(root, name), join(folder, name));
  const simulator = start(['simulate', '--port', '0', '--json'], { cwd: folder });
  const [, url = ''] = await simulator.until('stdout', /"url":"([^"]+)"/);
  const gateway = start(['serve', '--port', '0'], { cwd: folder, environment: { SIMULATOR_URL: url } });
  const [, address = ''] = await gateway.until('stderr', /"address":"([^"]+)"/);
  return { folder, gateway: address };
}

async function startCommands() {
  const output = await temporaryFolder();
  const server = startProgram(join(root, 'test/docs/command-server.mjs'), [output]);
  const [address] = await server.until('stdout', /http:.*(?=\n)/);
  return { COMMANDS: address, OUTPUT: output };
}

async function runDocument(name: string): Promise<{ code: number | null; output: string; ran: number }> {
  const { folder, gateway } = await startEverything();
  const parts = blocksOf(readDocument(name)).flatMap((block) => scriptOf(block, gateway) ?? []);
  const script = parts.join('').replaceAll('http://127.0.0.1:8080', gateway).replaceAll('/opt/gateway', root);
  await writeFile(join(folder, 'document.sh'), prelude + (script.includes('${KEY:?') ? keyGiven : '') + script);
  const own = await startCommands();
  const child = spawn('bash', ['document.sh'], { cwd: folder, env: { PATH: process.env.PATH, HOME: folder, ...own } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const code = await new Promise<number | null>((done) => child.once('close', done));
  return { code, output, ran: parts.length };
}

test.concurrent.each([
  ['README.md', 2],
  ['docs/operate.md', 20],
  ['docs/plugins.md', 4],
  ['docs/api.md', 25],
])('the commands of %s run as they stand', { timeout: 120_000 }, async (name, least) => {
  const { code, output, ran } = await runDocument(name);
  expect(code, output).toBe(0);
  expect(ran).toBeGreaterThanOrEqual(least);
});
