/** The failover table of an operation: safe defaults with the file's own entries laid over them. */
import type { RoutesFile } from '../../schemas/types/routes.ts';
import type { FailoverAction, FailoverTable } from '../contract/model.ts';
import { type Operation, operationEntry } from '../contract/operations.ts';

type Entries = Readonly<Record<string, FailoverAction | undefined>>;

const anyOperation: Entries = {
  connect: 'next',
  reset: 'next',
  timeout: 'next',
  malformed: 'next',
  credential: 'next',
  moderation: 'stop',
  'no-image': 'next',
  '4xx': 'stop',
  '429': 'next',
  '5xx': 'next',
};

/** The work may have been done and charged: a second attempt could be charged twice (spec section 7). */
const costlyOperation: Entries = { reset: 'stop', timeout: 'stop', malformed: 'stop', '504': 'stop' };

const statuses = Array.from({ length: 200 }, (_, index) => String(400 + index));

/** `4xx` and `5xx` first, so that a status that is named in the same place wins. */
function lay(table: Record<string, FailoverAction>, entries: Entries): void {
  for (const [key, action] of Object.entries(entries)) {
    if (!key.endsWith('xx') || action === undefined) continue;
    for (const status of statuses) if (status[0] === key[0]) table[status] = action;
  }
  for (const [key, action] of Object.entries(entries)) {
    if (!key.endsWith('xx') && action !== undefined) table[key] = action;
  }
}

/**
 * Every reason and every status from 400 to 599 → action. What an operation's own safe default says can be changed only
 * under `operations`, not by the file's `default`.
 */
export function linkFailover(file: RoutesFile['failover'], operation: Operation): FailoverTable {
  const table: Record<string, FailoverAction> = {};
  const own = file.operations?.[operation as keyof NonNullable<RoutesFile['failover']['operations']>];
  const safe = operationEntry(operation).costly ? costlyOperation : {};
  for (const entries of [anyOperation, file.default ?? {}, safe, own ?? {}]) lay(table, entries);
  return Object.freeze(table);
}
