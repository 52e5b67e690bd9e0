/** Which model a request means and whether its key may use it (spec 2.10, 5, 7). */
import type { Exchange } from '../contract/exchange.ts';
import type { Model, Offer } from '../contract/model.ts';
import { GatewayError } from '../errors.ts';

const longestShown = 120;

function shown(name: string): string {
  return name.length > longestShown ? `${name.slice(0, longestShown)}…` : name;
}

/** The offer of the caller's group for a model; throws 404, 403 or 400. */
export function resolveOffer(exchange: Exchange, models: ReadonlyMap<string, Model>, name: string): Offer {
  const { key, group } = exchange.principal!;
  const offer = group.offers.get(name);
  if (offer === undefined || (key.models !== null && !key.models.has(name))) {
    if (!models.has(name))
      throw new GatewayError('model_not_found', `The model \`${shown(name)}\` does not exist. See GET /v1/models.`, {
        param: 'model',
      });
    throw new GatewayError(
      'model_not_allowed',
      `This key may not use the model \`${shown(name)}\`. See GET /v1/models.`,
      { param: 'model' },
    );
  }
  const { operation } = exchange.route;
  if (!offer.model.operations.includes(operation)) {
    throw new GatewayError(
      'unsupported_endpoint',
      `The model \`${name}\` cannot be used on ${exchange.route.path}; it serves: ${offer.model.operations.join(', ')}.`,
      { param: 'model' },
    );
  }
  return offer;
}
