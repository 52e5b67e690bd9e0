/** One route of a snapshot: its hooks as flat arrays, its channels as targets. */
import type { Exchange } from '../contract/exchange.ts';
import type { DeliveredImage, ImageResult } from '../contract/image.ts';
import type { Candidate, Route } from '../contract/model.ts';
import type { NumberedPart } from '../contract/realtime.ts';
import type { Outcome } from '../contract/usage.ts';
import type { JsonValue, MaybePromise } from '../contract/values.ts';
import type { GatewayError } from '../errors.ts';
import type { LocalReply } from '../plugin.ts';
import type { EventHook } from './chat/translate.ts';
import type { Target } from './target.ts';

export type RequestHook = (exchange: Exchange) => MaybePromise<LocalReply | undefined>;
export type HeadHook = (exchange: Exchange) => MaybePromise<void>;
export type SettledHook = (exchange: Exchange, outcome: Outcome) => MaybePromise<void>;
export type PartHook = (exchange: Exchange, part: NumberedPart) => MaybePromise<void>;
export type ImagesHook = (
  exchange: Exchange,
  result: ImageResult,
  signal: AbortSignal,
) => Promise<readonly DeliveredImage[]>;

/** How errors look on a route before the reply began. */
export interface ReplyForm {
  encodeError(error: GatewayError, requestId: string, exchange?: Exchange): JsonValue;
  /** A second name for `x-request-id`. */
  readonly requestIdHeader?: string;
}

/** A stage of the chain and the hooks that it has. */
export interface CompiledStage {
  readonly plugin: string;
  readonly hooks: readonly string[];
}

export interface CompiledChain {
  /** Request headers to copy, lower-case. */
  readonly headerNames: readonly string[];
  readonly onHead: readonly HeadHook[];
  readonly onRequest: readonly RequestHook[];
  readonly onEvent: readonly EventHook[];
  readonly onImages: ImagesHook | null;
  /** These two from the last of the chain to the first. */
  readonly onPart: readonly PartHook[];
  readonly onSettled: readonly SettledHook[];
  /** For `gateway routes` and `explain`. */
  readonly stages: readonly CompiledStage[];
}

export interface CompiledRoute extends CompiledChain {
  readonly route: Route;
  readonly form: ReplyForm;
  readonly targets: ReadonlyMap<Candidate, Target>;
}
