import { expect, test } from 'vitest';
import { VENDORS } from '../../simulator/vendors/index.ts';
import { cleanUpAfterAll, run } from './command.ts';
import { call } from './in-process.ts';

cleanUpAfterAll();

const commands = [
  ['serve'],
  ['demo'],
  ['check'],
  ['routes'],
  ['explain'],
  ['simulate'],
  ['usage'],
  ['audit'],
  ['users'],
  ['users', 'create'],
  ['users', 'list'],
  ['users', 'credit'],
  ['users', 'disable'],
  ['users', 'enable'],
  ['keys'],
  ['keys', 'create'],
  ['keys', 'list'],
  ['keys', 'revoke'],
];

test('--help names every command', async () => {
  const { code, stdout } = await call(['--help']);
  expect(code).toBe(0);
  for (const [name] of commands) expect(stdout).toMatch(new RegExp(`^ {2}${name}\\b`, 'm'));
});

test.each(commands.map((words) => [words.join(' ')]))('%s --help has examples that name it', async (name) => {
  const { code, stdout, stderr } = await call([...name.split(' '), '--help']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(new RegExp(`Examples:\\n[\\s\\S]*gateway ${name}`));
});

test('demo --help says what becomes of its data', async () => {
  const { stdout } = await call(['demo', '--help']);
  expect(stdout.replace(/\s+/g, ' ')).toContain('deleted at the end');
  expect(stdout).not.toContain('dataDirectory');
});

test('simulate --help names every vendor that is played, and the ways to faults', async () => {
  const { stdout } = await call(['simulate', '--help']);
  for (const { name } of VENDORS) expect(stdout.toLowerCase()).toContain(name);
  expect(stdout).toContain('!status=503');
  expect(stdout).toContain('simulator/README.md');
});

test.each([
  [[], /Usage: gateway/],
  [['nonsense'], /unknown command 'nonsense'/],
  [['serve', '--port', 'http'], /A port is a number/],
  [['serve', '--port', '65536'], /A port is a number/],
  [['explain'], /required option '-m, --model <name>'/],
  [['users', 'credit', 'alice'], /give the amount in USD, or with --units/],
  [['users', 'credit', 'alice', '1', '--units', '1'], /not both/],
  [['users', 'credit', 'alice', '0.0000001'], /smallest amount is 0\.000002 USD/],
  [['users', 'credit', 'alice', '1e3'], /looks like 5 or 0\.20/],
  [['users', 'credit', 'alice', '--units', '1.5'], /Units are a whole number/],
  [['usage', '--from', 'yesterday'], /A time looks like/],
  [['usage', '--limit', '0'], /a whole number above 0/],
  [['usage', '--limit', '10001'], /at most 10000/],
  [['keys', 'create', 'alice', '--expires', '2027-02-30'], /A time looks like/],
  [['keys', 'create', 'alice', '--expires', '2020-01-31'], /in the past/],
  [['check', '--colour'], /unknown option '--colour'/],
] as const)('wrong usage ends with 2: %j', async (words, message) => {
  const { code, stdout, stderr } = await call(words);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(message);
});

test('the process ends with the code of its command', async () => {
  const [version, nonsense] = await Promise.all([run(['--version']), run(['nonsense'])]);
  expect(version).toEqual({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/), stderr: '' });
  expect(nonsense).toMatchObject({ code: 2, stdout: '' });
});
