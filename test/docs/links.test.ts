/** Documents lead to what exists. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { blocksOf, readDocument, root } from './blocks.ts';

const folders = ['.', 'docs', 'docs/decisions', 'simulator'];
const documents = folders.flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
);

/** As GitHub makes them of headings. */
const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

const withoutBlocks = (text: string): string => text.replace(/^```[\s\S]*?^```$/gm, '');

test.each(documents)('every link of %s leads somewhere', (name) => {
  const wrong = [...withoutBlocks(readDocument(name)).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^https?:/.test(target))
    .filter((target) => {
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? join(root, name) : join(root, dirname(name), path);
      if (!existsSync(file)) return true;
      return anchor !== undefined && !anchorsOf(readFileSync(file, 'utf8')).includes(anchor);
    });
  expect(wrong).toEqual([]);
});

test.each(documents)('every npm script that %s names exists', (name) => {
  const { scripts } = JSON.parse(readDocument('package.json')) as { scripts: Record<string, string> };
  const named = [...readDocument(name).matchAll(/npm run (?:--silent )?([\w:]+)/g)].map(([, script = '']) => script);
  expect(named.filter((script) => scripts[script] === undefined)).toEqual([]);
});

test.each(documents)('every document that %s names exists', (name) => {
  const named = [...readDocument(name).matchAll(/\bdocs\/[\w/.-]+\.md\b/g)].map(([path]) => path);
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test('no block is left open', () => {
  for (const name of documents) {
    const fences = readDocument(name).match(/^```/gm)?.length ?? 0;
    expect([name, fences]).toEqual([name, 2 * blocksOf(readDocument(name)).length]);
  }
});
