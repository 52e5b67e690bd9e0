/** Ledgers in folders of their own for the tests, closed and removed when a test ends. */
import { cpSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { KeyRecord } from '../../engine/contract/ports.ts';
import type { UsageRow } from '../../engine/contract/usage.ts';
import type { Log } from '../../engine/contract/values.ts';
import { hashKey, type LedgerOptions, type NewKey, type OpenLedger, openLedger } from '../../engine/ledger/index.ts';

export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ledger-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export interface LogLine {
  readonly level: string;
  readonly fields: object;
  readonly message: string;
}

export function recordingLog(): Log & { readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const at = (level: string) => (fields: object, message: string) => void lines.push({ level, fields, message });
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

export async function openIn(folder: string, options: Partial<LedgerOptions> = {}): Promise<OpenLedger> {
  const ledger = await openLedger({ folder, log: recordingLog(), sync: 'off', ...options });
  onTestFinished(() => ledger.close());
  return ledger;
}

/** What a crash at this moment would leave behind, as another folder. */
export async function crashOf(folder: string): Promise<string> {
  const copy = await newFolder();
  cpSync(folder, copy, { recursive: true });
  return copy;
}

export interface Customer {
  readonly userId: number;
  readonly secret: string;
  readonly key: KeyRecord;
}

/** A user with a balance and one key. */
export async function customer(ledger: OpenLedger, balance: number, key: Partial<NewKey> = {}): Promise<Customer> {
  const user = await ledger.accounts.createUser({ name: `user-${Math.random().toString(36).slice(2)}` });
  if (balance !== 0) await ledger.accounts.credit(user.id, balance, 'top-up');
  const { secret } = await ledger.accounts.createKey({ userId: user.id, name: 'test', group: 'default', ...key });
  return { userId: user.id, secret, key: await keyOf(ledger, secret) };
}

export async function keyOf(ledger: OpenLedger, secret: string): Promise<KeyRecord> {
  const key = await ledger.findKey(hashKey(secret));
  if (key === null) throw new Error('The key is not there.');
  return key;
}

export function usageRow(key: KeyRecord, requestId: string, quota: number, change: Partial<UsageRow> = {}): UsageRow {
  return {
    requestId,
    time: Date.now(),
    userId: key.userId,
    keyId: key.id,
    endpoint: '/v1/chat/completions',
    model: 'demo-chat',
    group: 'default',
    multiplier: '1',
    channel: 'c1',
    attempts: 1,
    images: 0,
    inputTokens: 10,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 20,
    reasoningTokens: 0,
    quota,
    status: 200,
    outcome: 'ok',
    code: null,
    usageSource: 'measured',
    durationMs: 12.5,
    seconds: 0,
    characters: 0,
    searchUnits: 0,
    audioInputTokens: 0,
    audioOutputTokens: 0,
    firstByteMs: null,
    ...change,
  };
}
