/** The whole explanation of one request, as data. */

import type { CompiledStage } from '../../chain/compiled-route.ts';
import type { Configuration } from '../../config/index.ts';
import { GatewayError } from '../../errors.ts';
import type { Protocol } from '../../plugin.ts';
import type { StandIn } from '../stand-in.ts';
import { type ExplainedChannel, explainChannels, pickTarget } from './channels.ts';
import { notesOf } from './notes.ts';
import { type Normalized, normalizedOf } from './parameters.ts';
import { type ExplainedPrice, explainPrice } from './price.ts';
import { type ExplainedRequest, explainRequest } from './upstream.ts';
import type { Walk } from './walk.ts';

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
  /** Sentences: also what cannot be shown without a client, a vendor or the database. */
  readonly notes: readonly string[];
  /** What the client would be told instead; null where it would be served. */
  readonly refusal: {
    readonly status: number;
    readonly code: string;
    readonly message: string;
    readonly hint: string | null;
  } | null;
}

export interface Material {
  readonly model: string;
  readonly configuration: Configuration;
  readonly walked: Walk;
  /** What the route speaks. */
  readonly protocol: Protocol;
  readonly standIn: StandIn;
  /** The channel whose request is shown. */
  readonly channel: string | undefined;
  /** The name that was probably meant. */
  readonly hint: string | null;
}

/** Not every request can be said in the words of every vendor: the client is told so. */
function requestOrRefusal({ walked, protocol, configuration, channel }: Material): {
  readonly request: ExplainedRequest | null;
  readonly refusal: GatewayError | null;
} {
  const { exchange, refusal } = walked;
  const { compiled, offer } = exchange;
  const target = offer === null || refusal !== null ? null : pickTarget(offer, compiled, channel);
  try {
    return { request: target === null ? null : explainRequest(exchange, protocol, target, configuration), refusal };
  } catch (error) {
    if (error instanceof GatewayError) return { request: null, refusal: error };
    throw error;
  }
}

export function answer(material: Material): Explanation {
  const { model, configuration, walked, protocol, standIn, hint } = material;
  const { exchange } = walked;
  const { compiled, offer } = exchange;
  const { method, path, operation, chain } = compiled.route;
  const { request, refusal } = requestOrRefusal(material);
  return {
    model,
    family: configuration.models.get(model)?.family.name ?? null,
    group: exchange.principal?.group.name ?? null,
    route: { method, path, operation, protocol: protocol.name },
    chain: { name: chain, stages: compiled.stages },
    parameters: offer === null ? null : normalizedOf(exchange),
    channels: offer === null ? [] : explainChannels(configuration, offer, compiled),
    request,
    price: offer === null || operation === 'chat.count' ? null : explainPrice(offer, standIn.holds),
    notes: offer === null ? [] : notesOf(exchange, protocol),
    refusal:
      refusal === null ? null : { status: refusal.status, code: refusal.shownCode, message: refusal.message, hint },
  };
}
