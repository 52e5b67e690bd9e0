import { expect, test } from 'vitest';
import { type Configuration, formatFault, loadConfiguration } from '../../engine/config/index.ts';
import { createFolder, type Folder } from './folder.ts';
import { registry } from './registry.ts';

async function load(folder: Folder, environment = {}): Promise<Configuration> {
  const result = await loadConfiguration(folder.path, registry, environment);
  if (!result.ok) throw new Error(result.faults.map(formatFault).join('\n'));
  return result.configuration;
}

/** Two optional channels; the second one takes `key` of the first through an alias. */
function twoChannels(key: string, value: string): string {
  const channel = (name: string, written: string) => `  ${name}:
    vendor: openai
    optional: true
    groups: [default]
    models: { demo-chat: gpt-4.1-mini }
    ${key}: ${written}
${key === 'credentials' ? '' : '    credentials: [sk-literal-credential]\n'}`;
  const groups = 'groups:\n  default: { multiplier: "1" }\n';
  return `${groups}channels:\n${channel('first', `&shared ${value}`)}${channel('second', '*shared')}`;
}

test('a variable that is not set leaves out every optional channel that an alias brings it to', async () => {
  const folder = createFolder();
  folder.write('channels.yaml', twoChannels('credentials', `["$\{env:SHARED_KEY}"]`));
  const unset = await load(folder);
  expect(unset.channels).toEqual([]);
  expect(unset.notices).toContain('the channel second is left out: the environment variable SHARED_KEY is not set');
  const set = await load(folder, { SHARED_KEY: 'sk-shared' });
  expect(set.channels.map((channel) => channel.credentials)).toEqual([['sk-shared'], ['sk-shared']]);
});

test('a number from the environment is one through an alias too', async () => {
  const folder = createFolder();
  folder.write('channels.yaml', twoChannels('weight', `"$\{env:WEIGHT}"`));
  const { channels } = await load(folder, { WEIGHT: '7' });
  expect(channels.map((channel) => channel.weight)).toEqual([7, 7]);
});

test('one anchor may stand in hundreds of places', async () => {
  const folder = createFolder();
  folder.edit('models.yaml', 'price: { input: "0.40"', 'price: &price { input: "0.40"');
  const names = Array.from({ length: 300 }, (_, index) => `chat-${index}`);
  const text = names.map((name) => `  ${name}: { family: chat, price: *price }\n`).join('');
  folder.edit('models.yaml', 'output: "1.60" } }\n', `output: "1.60" } }\n${text}`);
  const { models } = await load(folder, { GOOGLE_API_KEY: 'key' });
  expect(models.get('chat-299')?.price).toEqual({ input: '0.40', output: '1.60' });
});
