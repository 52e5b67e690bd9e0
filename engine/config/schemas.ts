/** The JSON Schemas of the four files, read once. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonSchema } from '../contract/values.ts';
import { packageRoot } from './package-root.ts';

export const fileNames = ['gateway', 'channels', 'models', 'routes'] as const;
export type FileName = (typeof fileNames)[number];

function load(name: FileName): JsonSchema {
  return JSON.parse(readFileSync(join(packageRoot(), 'schemas', `${name}.schema.json`), 'utf8')) as JsonSchema;
}

export const schemas: Readonly<Record<FileName, JsonSchema>> = {
  gateway: load('gateway'),
  channels: load('channels'),
  models: load('models'),
  routes: load('routes'),
};
