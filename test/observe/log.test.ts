/** The lines of the process's log: whatever slips into them, no credential gets out. */
import fs from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createLog } from '../../engine/observe/log.ts';

const lines: string[] = [];

/** A log whose lines are kept in place of being written to standard error. */
function recording(format: 'json' | 'pretty', level = 'info') {
  vi.spyOn(fs, 'writeSync').mockImplementation((descriptor, text) => {
    if (descriptor !== 2) throw new Error(`written to ${descriptor}`);
    lines.push(String(text));
    return Buffer.byteLength(String(text));
  });
  return createLog({ level, format });
}
afterEach(() => {
  lines.length = 0;
});

const secrets = [
  `sk-${'a1B2'.repeat(12)}`,
  'sk-ant-api03-abcdefghijkl',
  'sk-proj-abcdefghijklmnop',
  'xai-abcdefghijklmnop',
  'jina_abcdefghijklmnop',
  'AIzaSyA1234567890abcdefghij',
];

describe.each(['json', 'pretty'] as const)('the log as %s', (format) => {
  it.each(secrets)('%s is cut out of messages, fields and errors', (secret) => {
    const log = recording(format);
    log.info({ url: `https://vendor.test/?key=${secret}`, list: [{ deep: secret }] }, `the key ${secret} was sent`);
    log.error({ err: new Error(`refused: ${secret}`, { cause: new Error(secret) }) }, 'failed');
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      expect(line).not.toContain(secret.slice(0, 12));
      expect(line).toContain('[redacted]');
      expect(line.endsWith('\n')).toBe(true);
    }
  });

  it('fields that hold a secret by their name are cut out whatever they hold', () => {
    const headers = { authorization: 'Bearer own-words', 'x-api-key': 'own-words', 'x-goog-api-key': 'own-words' };
    const fields = { password: 'own-words', secret: 'own-words', credential: 'own-words', apiKey: 'own-words' };
    recording(format).warn({ ...fields, headers, kept: 'kept' }, 'a sentence');
    expect(lines.join()).not.toContain('own-words');
    expect(lines.join()).toContain('kept');
  });

  it('what a client wrote stays on its line', () => {
    recording(format).info({ path: 'a\nb\r\n{"level":60}\u001b[2J' }, 'two\nlines');
    if (format === 'json') expect(JSON.parse(lines[0]!)).toMatchObject({ level: 30, msg: 'two\nlines' });
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toContain('\u001b');
    if (format === 'json') expect(lines[0]!.slice(0, -1)).not.toMatch(/[\r\n]/);
  });
});

it('below its level nothing is written, and the level may change', () => {
  const log = recording('json', 'warn');
  log.info({}, 'too low');
  expect(lines).toEqual([]);
  log.level = 'info';
  log.info({}, 'high enough');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ level: 30, msg: 'high enough' }]);
});
