import { readdir, readlink } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import { formOf, postForm, until, wavFile } from './support.ts';

/** Files of the uploads' folder that this process has open; their names are gone already. */
async function openUploads(): Promise<string[]> {
  const descriptors = await readdir('/proc/self/fd');
  const links = descriptors.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => ''));
  return (await Promise.all(links)).filter((path) => path.includes('/uploads/'));
}

describe.skipIf(process.platform !== 'linux')('4.1 uploads on disk', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack();
  });
  afterAll(() => stack.close());

  it.each(['demo-whisper', 'no-such-model'])('a request for %s gives its file back when it ends', async (model) => {
    let seen = 0;
    const watching = setInterval(async () => {
      seen = Math.max(seen, (await openUploads()).length);
    }, 1);
    const answer = await postForm(stack, '/audio/transcriptions', formOf({ model, file: wavFile(400) }));
    await answer.text();
    clearInterval(watching);
    expect(seen, 'the file was on disk').toBeGreaterThan(0);
    await until(async () => (await openUploads()).length === 0);
  });
});
