/** `GET /v1/models` and `GET /v1/models/{model}`: what the caller may use (spec 2.10, 4.5). */
import type { Exchange } from '../contract/exchange.ts';
import type { Model } from '../contract/model.ts';
import { GatewayError } from '../errors.ts';
import type { LocalReply } from '../plugin.ts';

const entry = (model: Model) => ({ id: model.name, object: 'model', created: model.created, owned_by: model.ownedBy });

/** Visible: the group offers it, the key's allowlist has it, and at least one channel serves it. */
function isVisible(exchange: Exchange, name: string): boolean {
  const { key, group } = exchange.principal!;
  const offer = group.offers.get(name);
  return offer !== undefined && offer.tiers.length > 0 && (key.models === null || key.models.has(name));
}

export function listModels(exchange: Exchange): LocalReply {
  const offers = [...exchange.principal!.group.offers.values()].filter((offer) =>
    isVisible(exchange, offer.model.name),
  );
  return { status: 200, body: JSON.stringify({ object: 'list', data: offers.map((offer) => entry(offer.model)) }) };
}

/** 404 for a model that is unknown and for one the key may not see: the answer does not tell which. */
export function showModel(exchange: Exchange): LocalReply {
  const name = decoded(exchange.parameter);
  if (!isVisible(exchange, name))
    throw new GatewayError(
      'model_not_found',
      `The model \`${name.slice(0, 120)}\` does not exist. See GET /v1/models.`,
      { param: 'model' },
    );
  return { status: 200, body: JSON.stringify(entry(exchange.principal!.group.offers.get(name)!.model)) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
