/**
 * Lays the YAML of standard input over a configuration file, objects merged and lists replaced, and waits until the
 * running gateway uses it: `node apply.mjs FILE http://127.0.0.1:PORT`. Fails with the faults where it does not.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';

const [file, gateway] = process.argv.slice(2);

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

function merged(below, above) {
  if (!isObject(below) || !isObject(above)) return above;
  const result = { ...below };
  for (const [key, value] of Object.entries(above)) result[key] = merged(below[key], value);
  return result;
}

async function state() {
  const response = await fetch(`${gateway}/readyz`);
  return (await response.json()).configuration;
}

const before = (await state()).loadedAt;
writeFileSync(file, stringify(merged(parse(readFileSync(file, 'utf8')), parse(readFileSync(0, 'utf8')))));
for (let left = 200; ; left--) {
  const { current, loadedAt, faults } = await state();
  if (current && loadedAt !== before) break;
  // A fault may belong to the file as it was while several were being written.
  if (left === 0) throw new Error(`${file} is not in use: ${faults.join('\n') || 'no reload was seen'}`);
  await new Promise((resolve) => setTimeout(resolve, 25));
}
