/** An operator's plugin beside its configuration, as docs/plugins.md has it, in the built gateway. */
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cleanUpAfterAll, run, start, temporaryFolder } from '../cli/command.ts';
import { root } from './blocks.ts';

cleanUpAfterAll();

async function folderWithCap(): Promise<string> {
  const folder = await temporaryFolder();
  for (const name of ['gateway', 'models', 'channels', 'routes'])
    await cp(join(root, `${name}.yaml`), join(folder, `${name}.yaml`));
  await mkdir(join(folder, 'node_modules'));
  await symlink(root, join(folder, 'node_modules/unified-model-gateway'));
  await cp(join(root, 'examples/plugins/daily-cap.js'), join(folder, 'daily-cap.js'));
  const routes = await readFile(join(folder, 'routes.yaml'), 'utf8');
  const edited = routes
    .replace('plugins: []', 'plugins: [daily-cap.js]')
    .replace('chat: [auth,', 'chat: [auth, daily-cap: { requests: 1 },');
  await writeFile(join(folder, 'routes.yaml'), edited);
  return folder;
}

test('what an operator’s plugin throws reaches the client as it says', async () => {
  const cwd = await folderWithCap();
  const simulator = start(['simulate', '--port', '0', '--json'], { cwd });
  const [, url = ''] = await simulator.until('stdout', /"url":"([^"]+)"/);
  const gateway = start(['serve', '--port', '0'], { cwd, environment: { SIMULATOR_URL: url } });
  const [, address = ''] = await gateway.until('stderr', /"address":"([^"]+)"/);
  for (const words of ['create alice', 'credit alice 1.00']) await run(['users', ...words.split(' ')], { cwd });
  const { stdout } = await run(['keys', 'create', 'alice'], { cwd });
  const ask = () =>
    fetch(`${address}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stdout.trim()}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] }),
    });
  expect((await ask()).status).toBe(200);
  const refused = await ask();
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await refused.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
});
