/** What outlives a configuration and is lent to each that is compiled. */
import type { Log } from '../contract/values.ts';
import type { Host } from '../plugin.ts';
import type { HealthBook } from '../upstream/health.ts';
import type { Pools } from '../upstream/pools.ts';

/** What outlives a snapshot and is lent to it. */
export interface Lent {
  readonly pools: Pools;
  readonly health: HealthBook;
  readonly host: Omit<Host, 'slot' | 'group'>;
  readonly log: Log;
}
