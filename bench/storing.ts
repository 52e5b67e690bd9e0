/** What storing an image takes at least: its Base64 decoded, a file made, written and renamed, with nothing between. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'storing-bench-'));
const base64 = Buffer.from(randomBytes(786_432).toString('base64'));
let stored = 0;

async function storeOne(): Promise<void> {
  const path = join(folder, String(stored++));
  const file = await open(`${path}.draft`, 'wx');
  await file.write(Buffer.from(base64.toString('latin1'), 'base64'));
  await file.close();
  await rename(`${path}.draft`, path);
}

process.on('message', ({ count }: { readonly count: number }) => {
  const work = async () => {
    for (let index = 0; index < count; index++) await storeOne();
  };
  work().then(
    () => process.send?.({ result: null }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.on('disconnect', () => {
  rmSync(folder, { recursive: true, force: true });
  process.exit(0);
});
process.send?.({ port: 0 });
