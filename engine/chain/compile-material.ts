/** What a configuration is compiled with. */
import type { Log } from '../contract/values.ts';
import type { Host } from '../plugin.ts';
import type { HealthBook } from '../upstream/health.ts';
import type { Pools } from '../upstream/pools.ts';
import type { EventHook } from './chat/translate.ts';
import type { CompiledStage, HeadHook, ImagesHook, PartHook, RequestHook, SettledHook } from './compiled-route.ts';

/** What outlives a snapshot and is lent to it. */
export interface Lent {
  readonly pools: Pools;
  readonly health: HealthBook;
  readonly host: Omit<Host, 'slot' | 'group'>;
  readonly log: Log;
}

export interface CompiledChain {
  readonly stages: readonly CompiledStage[];
  readonly headerNames: readonly string[];
  readonly onHead: readonly HeadHook[];
  readonly onRequest: readonly RequestHook[];
  readonly onEvent: readonly EventHook[];
  readonly onImages: ImagesHook | null;
  readonly onPart: readonly PartHook[];
  readonly onSettled: readonly SettledHook[];
}
