import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cleanUpAfterAll, configuration, run, start, temporaryFolder } from './command.ts';

cleanUpAfterAll();

async function startServe(folder: string, data: string) {
  const gateway = start(['serve', '--config', folder, '--port', '0', '--data', data]);
  const [line] = await gateway.until('stderr', /.*"ready".*\n/);
  return { gateway, ready: JSON.parse(line) as Record<string, unknown> & { address: string } };
}

test('serve says where it listens, reloads on SIGHUP and ends with 0 on SIGTERM', async () => {
  const folder = await temporaryFolder();
  await cp(configuration, folder, { recursive: true });
  const data = join(folder, 'data');
  const { gateway, ready } = await startServe(folder, data);
  expect(ready).toMatchObject({ configuration: folder, data, models: 3, channels: 4, routes: 3 });
  expect((await fetch(`${ready.address}/healthz`)).status).toBe(200);

  gateway.child.kill('SIGHUP');
  await gateway.until('stderr', /configuration reloaded, nothing changed/);
  const models = join(folder, 'models.yaml');
  await writeFile(models, (await readFile(models, 'utf8')).replace('"0.20"', '"0.30"'));
  gateway.child.kill('SIGHUP');
  await gateway.until('stderr', /price of square-image 0\.20 → 0\.30/);

  gateway.child.kill('SIGTERM');
  expect((await gateway.finished).code).toBe(0);
  await expect(fetch(`${ready.address}/healthz`)).rejects.toThrow();
});

test('serve refuses a taken port and a data directory in use, each with one sentence', async () => {
  const data = await temporaryFolder();
  const { ready } = await startServe(configuration, data);
  const { port } = new URL(ready.address);
  const taken = await run(['serve', '--port', port, '--data', await temporaryFolder()]);
  expect(taken.code).toBe(1);
  expect(taken.stderr).toMatch(new RegExp(`\\ngateway: Cannot listen on 127\\.0\\.0\\.1:${port}: [^\\n]*\\n$`));
  const locked = await run(['serve', '--port', '0', '--data', data]);
  expect(locked.code).toBe(1);
  expect(locked.stderr).toMatch(/\ngateway: [^\n]*uses the data folder [^\n]*\n$/);
});

test('serve prints the faults of a broken configuration and ends with 1', async () => {
  const folder = await temporaryFolder();
  await cp(configuration, folder, { recursive: true });
  await writeFile(join(folder, 'gateway.yaml'), 'listen: { prot: 1 }\n');
  const { code, stdout, stderr } = await run(['serve'], { cwd: folder });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^gateway\.yaml:1:11 .*\(did you mean "port"\?\)\n$/);
});
