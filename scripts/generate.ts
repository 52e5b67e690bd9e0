/**
 * Writes what is generated: types of the schemas and the reference documents. With `--check` it writes nothing and exits
 * with 1 where a file is stale.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../engine/config/index.ts';
import { requireConfiguration } from '../engine/configuration-error.ts';
import { openApiDocument } from '../engine/openapi/index.ts';
import { builtIns } from '../plugins/index.ts';
import { apiDocument } from './api-document.ts';
import { configurationDocument } from './configuration-document.ts';
import { errorsDocument } from './errors-document.ts';
import { protocolsDocument } from './protocols-document.ts';
import type { Schema } from './schema-table.ts';
import { typesOf } from './types-of-schemas.ts';

const root = packageRoot();
const names = ['gateway', 'routes', 'channels', 'models'] as const;

const schemaOf = (name: string): Schema =>
  JSON.parse(readFileSync(join(root, 'schemas', `${name}.schema.json`), 'utf8')) as Schema;

/** Path → text of every generated file. */
async function generateAll(): Promise<Map<string, string>> {
  const schemas = Object.fromEntries(names.map((name) => [name, schemaOf(name)]));
  const files = new Map<string, string>();
  for (const name of names) files.set(`schemas/types/${name}.ts`, await typesOf(name, schemaOf(name)));
  files.set('docs/configuration.md', configurationDocument(schemas, builtIns));
  files.set('docs/errors.md', errorsDocument());
  files.set('docs/protocols.md', protocolsDocument(builtIns.protocols));
  files.set('docs/api.md', apiDocument(openApiDocument(await requireConfiguration(root, builtIns, {}), null)));
  return files;
}

function current(path: string): string | null {
  try {
    return readFileSync(join(root, path), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

const check = process.argv.includes('--check');
for (const [path, text] of await generateAll()) {
  if (current(path) === text) continue;
  if (check) {
    process.exitCode = 1;
    process.stderr.write(`${path} is stale: run npm run generate\n`);
  } else {
    writeFileSync(join(root, path), text);
    process.stdout.write(`${path}\n`);
  }
}
