/**
 * Runs the `gateway` commands of a document in one process: starting one for each costs a second on a busy machine.
 * `node command-server.mjs OUTPUT` prints its address. A body is a folder and the words, each ended by NUL; the answer is
 * the exit code, what was printed stands in OUTPUT.
 */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { runCommandLine } from '../../dist/engine/cli/command-line.js';
import { builtIns } from '../../dist/plugins/index.js';

const output = process.argv[2];
const streams = ['stdout', 'stderr'];
const startSimulation = () => Promise.reject(new Error('no simulator here'));

async function run(folder, words) {
  process.chdir(folder);
  const said = { stdout: '', stderr: '' };
  const natives = streams.map((stream) => process[stream].write);
  for (const stream of streams) {
    process[stream].write = (text) => {
      said[stream] += text;
      return true;
    };
  }
  const code = await runCommandLine(words, { builtIns: async () => builtIns, startSimulation });
  streams.forEach((stream, index) => {
    process[stream].write = natives[index];
    writeFileSync(join(output, stream), said[stream]);
  });
  return code;
}

const server = createServer(async (request, response) => {
  const [folder, ...words] = (await buffer(request)).toString('utf8').split('\0').slice(0, -1);
  response.end(String(await run(folder, words)));
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${server.address().port}\n`));
