import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

const minimumLength = 16;

/** The secrets that sign URLs: those of the settings, or one that is generated into `file` (mode 0600) once. */
export async function loadSecrets(
  setting: string | readonly string[] | undefined,
  file: string,
): Promise<readonly string[]> {
  const given = typeof setting === 'string' ? [setting] : (setting ?? []);
  const secrets = given.length > 0 ? given : [await readOrGenerate(file)];
  if (secrets.some((secret) => secret.length < minimumLength)) {
    const place = given.length > 0 ? 'objects.secret' : file;
    throw new Error(`The secret for signed URLs (${place}) needs at least ${minimumLength} characters.`);
  }
  return secrets;
}

async function readOrGenerate(file: string): Promise<string> {
  return (await readIfThere(file)) ?? (await generate(file));
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Two processes may start at once: `link` lets one win, and nobody ever reads half a secret. */
async function generate(file: string): Promise<string> {
  const draft = `${file}.${randomBytes(8).toString('hex')}`;
  await mkdir(dirname(file), { recursive: true });
  try {
    await writeFile(draft, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx', flush: true });
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
  return (await readFile(file, 'utf8')).trim();
}
