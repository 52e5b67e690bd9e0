/** Who asks: a key of the ledger, or anybody of a group. */
import type { KeyRecord, LimitSettings } from '../../contract/ports.ts';
import type { StoredKey, User } from '../../ledger/index.ts';
import { type AccountsOptions, withAccounts } from '../accounts.ts';
import { Refusal } from '../failure.ts';
import type { Parts } from '../parts.ts';

const unlimited: LimitSettings = { requestsPerMinute: null, tokensPerMinute: null, concurrency: null };

/** A key without bounds in a group. */
export function anyKeyOf(group: string): KeyRecord {
  const account = { userId: 0, disabled: false, available: Number.MAX_SAFE_INTEGER };
  const bounds = { models: null, disabled: false, expiresAt: null, quotaLeft: null, limits: unlimited };
  return { id: 0, userId: 0, name: 'explain', group, ...bounds, account };
}

function recordOf(key: StoredKey, user: User): KeyRecord {
  const { id, userId, name, group, disabled, expiresAt, quotaLeft, limits } = key;
  const models = key.models === null ? null : new Set(key.models);
  const account = { userId, disabled: user.disabled, available: user.balance };
  return { id, userId, name, group, models, disabled, expiresAt, quotaLeft, limits, account };
}

/** What is listed is `sk-AbCd...wXyz`: the ends of the secret. */
function fits({ prefix }: StoredKey, secret: string): boolean {
  const [start = '', end = ''] = prefix.split('...');
  return secret.startsWith(start) && secret.endsWith(end);
}

/** By number, by the prefix as listed or by the key itself; throws Refusal. */
export async function findKey(which: string, options: AccountsOptions, parts: Parts): Promise<KeyRecord> {
  return withAccounts(options, parts, async (accounts) => {
    const keys = await accounts.listKeys();
    const found = keys.filter((key) => String(key.id) === which || key.prefix === which || fits(key, which));
    const [key] = found;
    if (key === undefined) throw new Refusal('There is no such key. Give its number, its prefix or the key itself.');
    if (found.length > 1) throw new Refusal(`${found.length} keys have this prefix. Give the number of one.`);
    return recordOf(key, (await accounts.findUser(key.userId))!);
  });
}
