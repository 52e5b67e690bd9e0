/**
 * The one door for plugins: the contract's types, `define…` for the four things a plugin author can add, and the few
 * helpers they need. A plugin imports this file and libraries, nothing else; plugins meet by name in `routes.yaml`.
 */
import type { ChatEvent, ChatProtocol } from './contract/chat.ts';
import type { DirectProtocol } from './contract/direct.ts';
import type { Exchange } from './contract/exchange.ts';
import type { DeliveredImage, ImageProtocol, ImageResult } from './contract/image.ts';
import type { FromSchema } from './contract/infer.ts';
import type { Group, Model } from './contract/model.ts';
import type { Counters, Ledger, Objects, Replays } from './contract/ports.ts';
import type { NumberedPart, RealtimeProtocol } from './contract/realtime.ts';
import type { Outcome } from './contract/usage.ts';
import type { JsonSchema, Log, MaybePromise } from './contract/values.ts';
import type { VendorDefinition } from './contract/vendor.ts';
import type { VideoProtocol } from './contract/video.ts';

export * from './contract/chat.ts';
export * from './contract/direct.ts';
export * from './contract/exchange.ts';
export * from './contract/features.ts';
export * from './contract/image.ts';
export type { FromSchema } from './contract/infer.ts';
export * from './contract/model.ts';
export type { Operation } from './contract/operations.ts';
export * from './contract/ports.ts';
export * from './contract/realtime.ts';
export * from './contract/responses.ts';
export * from './contract/usage.ts';
export * from './contract/values.ts';
export * from './contract/vendor.ts';
export * from './contract/video.ts';
export * from './contract/wire.ts';
export { type ErrorCode, type ErrorDetails, GatewayError, toGatewayError } from './errors.ts';
export * from './image-rules.ts';
export { hashKey, isWellFormedKey } from './ledger/key.ts';
export { type ImageType, sniffImage } from './objects/image-type.ts';
export * from './wire/anthropic/error.ts';
export { askedTokens } from './wire/asked-tokens.ts';
export * from './wire/base64.ts';
export * from './wire/custom-tool.ts';
export * from './wire/data-url.ts';
export * from './wire/direct/counts.ts';
export * from './wire/direct/errors.ts';
export * from './wire/direct/event-tap.ts';
export * from './wire/direct/ranking.ts';
export * from './wire/direct/transcripts.ts';
export * from './wire/drawn-call.ts';
export { estimateTokens } from './wire/estimate-tokens.ts';
export * from './wire/frame-tap.ts';
export * from './wire/google/error.ts';
export * from './wire/google/refusals.ts';
export * from './wire/google/usage.ts';
export * from './wire/image-beginning.ts';
export * from './wire/lift.ts';
export * from './wire/made-id.ts';
export * from './wire/openai/call.ts';
export * from './wire/openai/chunks.ts';
export * from './wire/openai/extra.ts';
export * from './wire/openai/fields.ts';
export * from './wire/openai/limits.ts';
export * from './wire/openai/relay.ts';
export * from './wire/openai/reply.ts';
export * from './wire/openai/strict.ts';
export * from './wire/openai/usage.ts';
export { overridden } from './wire/overrides.ts';
export { saidTokens } from './wire/said-tokens.ts';
export * from './wire/signature.ts';
export { eventStream, isEventStream, readFrames, SseReader } from './wire/sse.ts';
export * from './wire/token-usage.ts';
export * from './wire/vendor-answer.ts';
export * from './wire/vendor-error.ts';
export * from './wire/vendor-model.ts';
export * from './wire/videos/object.ts';
export { readVideoCall, standardSeconds } from './wire/videos/read-call.ts';
export { referenceUrl } from './wire/videos/reference.ts';
export { compileShapeOf } from './wire/videos/shape.ts';
export * from './wire/videos/vendor.ts';

/** A private place for one plugin instance in every exchange. */
export interface Slot<T> {
  get(exchange: Exchange): T | undefined;
  set(exchange: Exchange, value: T): void;
}

/** What the engine lends to a plugin instance. */
export interface Host {
  readonly ledger: Ledger;
  readonly counters: Counters;
  readonly objects: Objects;
  readonly replays: Replays;
  readonly log: Log;
  /** Reserves a slot; call it in `create`, never per request. */
  slot<T>(): Slot<T>;
  /** A key's group in this snapshot, or null where the configuration has no such group. */
  group(name: string): Group | null;
  /**
   * GETs a URL that a vendor named: public addresses only (or the channel's own origin), bounded in size and time.
   * Throws GatewayError `upstream_invalid_response`.
   */
  fetch(
    url: string,
    limits: {
      readonly trustedOrigin: string;
      readonly maximumBytes: number;
      readonly timeout: number;
      readonly signal?: AbortSignal;
    },
  ): Promise<{ readonly bytes: Buffer; readonly contentType: string }>;
  /** ms since 1970. */
  now(): number;
}

/** A reply that ends the chain before any channel is tried. */
export interface LocalReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Buffer | string;
}

/**
 * The hooks of a plugin instance. One that is missing leaves no entry in the compiled chain and costs nothing.
 * A hook refuses by throwing a GatewayError.
 */
export interface Hooks {
  /** The head is there, the body is not yet read: cheap refusals (401) belong here. */
  onHead?(exchange: Exchange): MaybePromise<void>;
  /** The body is parsed and the model resolved; no channel has been chosen. A LocalReply ends the chain. */
  onRequest?(exchange: Exchange): MaybePromise<LocalReply | undefined>;
  /** Each event of a translated chat stream. In a chain with such a hook nothing is relayed unread. */
  onEvent?(exchange: Exchange, event: ChatEvent): ChatEvent | null;
  /**
   * Turns an image result into what is delivered (storage). The last plugin with this hook decides. `signal`: nobody waits
   * for the images any more.
   */
  onImages?(exchange: Exchange, result: ImageResult, signal: AbortSignal): Promise<readonly DeliveredImage[]>;
  /**
   * A part of a session that is charged by itself: a realtime answer. Runs before the client gets the part's last event,
   * from the last plugin of the chain to the first, all of them whatever one throws. A GatewayError ends the session; one
   * of status 500 and above also keeps that event back.
   */
  onPart?(exchange: Exchange, part: NumberedPart): MaybePromise<void>;
  /**
   * Exactly once per request that passed `onHead`, before the last byte goes out; the reply waits for it. Runs from the
   * last plugin of the chain to the first. A GatewayError takes the answer back; any other error is only logged.
   */
  onSettled?(exchange: Exchange, outcome: Outcome): MaybePromise<void>;
  /** The snapshot has drained. */
  close?(): MaybePromise<void>;
}

export interface PluginDefinition<S extends JsonSchema = JsonSchema> {
  readonly name: string;
  readonly summary: string;
  /** Closed JSON Schema (`additionalProperties: false`), every property described, defaults only here. */
  readonly options: S;
  /** Request headers it reads, lower-case: the engine copies no others. */
  readonly headers?: readonly string[];
  /** Names of plugins (or `normalize`) that must stand before it in the chain. */
  readonly requires?: readonly string[];
  /** Called once per snapshot and chain; all parsing happens here. */
  create(options: FromSchema<S>, host: Host): MaybePromise<Hooks>;
}

/** Applies one family's rules to the requests of one model. */
export interface NormalizerDefinition<S extends JsonSchema = JsonSchema> {
  readonly name: string;
  readonly summary: string;
  /** Closed JSON Schema of the family's `rules` in models.yaml. */
  readonly rules: S;
  /** Called once per model and snapshot; answers what runs per request. */
  compile(rules: FromSchema<S>, model: Model): (exchange: Exchange) => void;
}

/** Declares a plugin; options are typed from its schema. */
export const definePlugin = <const S extends JsonSchema>(definition: PluginDefinition<S>): PluginDefinition<S> =>
  definition;

/** Declares a family's normalizer; rules are typed from its schema. */
export const defineNormalizer = <const S extends JsonSchema>(
  definition: NormalizerDefinition<S>,
): NormalizerDefinition<S> => definition;

/** Declares a vendor. */
export const defineVendor = (definition: VendorDefinition): VendorDefinition => definition;

/** Every kind of wire protocol. */
export type Protocol = ChatProtocol | ImageProtocol | DirectProtocol | VideoProtocol | RealtimeProtocol;

/** Declares a wire protocol. */
export const defineProtocol = <P extends Protocol>(definition: P): P => definition;

/** Everything that is registered, as `plugins/index.ts` and operators' files list it. */
export interface Registry {
  readonly plugins: readonly PluginDefinition[];
  readonly normalizers: readonly NormalizerDefinition[];
  readonly vendors: readonly VendorDefinition[];
  readonly protocols: readonly Protocol[];
}
