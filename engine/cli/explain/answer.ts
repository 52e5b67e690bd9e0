/** The whole explanation of one request, as data. */

import type { CompiledStage } from '../../chain/compiled-route.ts';
import type { Configuration } from '../../config/index.ts';
import type { Claim, ImageSettings } from '../../contract/image.ts';
import type { StandIn } from '../stand-in.ts';
import { type ExplainedChannel, explainChannels, pickTarget } from './channels.ts';
import { type ExplainedPrice, explainPrice } from './price.ts';
import { type ExplainedRequest, explainRequest } from './upstream.ts';
import type { Walk } from './walk.ts';

/** What the chain made of the client's parameters. */
export type Normalized =
  | {
      readonly kind: 'image';
      readonly responseFormat: string;
      readonly stream: boolean;
      readonly references: number;
      readonly settings: ImageSettings;
      readonly claims: readonly Claim[];
    }
  | {
      readonly kind: 'chat';
      readonly stream: boolean;
      readonly maxOutputTokens: number | null;
      readonly choices: number;
    };

export interface Explanation {
  readonly model: string;
  readonly family: string | null;
  readonly group: string | null;
  readonly route: {
    readonly method: string;
    readonly path: string;
    readonly operation: string;
    readonly protocol: string;
  };
  readonly chain: { readonly name: string; readonly stages: readonly CompiledStage[] };
  readonly parameters: Normalized | null;
  readonly channels: readonly ExplainedChannel[];
  readonly request: ExplainedRequest | null;
  readonly price: ExplainedPrice | null;
  /** What the client would be told instead; null where it would be served. */
  readonly refusal: {
    readonly status: number;
    readonly code: string;
    readonly message: string;
    readonly hint: string | null;
  } | null;
}

function normalizedOf({ exchange }: Walk): Normalized | null {
  const { call } = exchange;
  if (call === null) return null;
  const { stream } = call;
  if (call.kind === 'chat') {
    const { maxOutputTokens, choices } = call;
    return { kind: 'chat', stream, maxOutputTokens, choices };
  }
  if (call.kind !== 'image') return null;
  const { responseFormat, references, settings, claims } = call;
  return { kind: 'image', responseFormat, stream, references: references.length, settings, claims };
}

export interface Material {
  readonly model: string;
  readonly configuration: Configuration;
  readonly walked: Walk;
  readonly standIn: StandIn;
  /** The channel whose request is shown. */
  readonly channel: string | undefined;
  /** The name that was probably meant. */
  readonly hint: string | null;
}

export function answer({ model, configuration, walked, standIn, channel, hint }: Material): Explanation {
  const { exchange, refusal } = walked;
  const { compiled, offer } = exchange;
  const { method, path, operation, protocol, chain } = compiled.route;
  const target = offer === null || refusal !== null ? null : pickTarget(offer, compiled, channel);
  return {
    model,
    family: configuration.models.get(model)?.family.name ?? null,
    group: exchange.principal?.group.name ?? null,
    route: { method, path, operation, protocol },
    chain: { name: chain, stages: compiled.stages },
    parameters: offer === null ? null : normalizedOf(walked),
    channels: offer === null ? [] : explainChannels(configuration, offer, compiled),
    request: target === null ? null : explainRequest(exchange, target, configuration),
    price: offer === null ? null : explainPrice(offer, standIn.holds),
    refusal:
      refusal === null ? null : { status: refusal.status, code: refusal.shownCode, message: refusal.message, hint },
  };
}
