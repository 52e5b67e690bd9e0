/** Which model a request means and whether its key may use it (spec 2.10, 5, 7). */
import type { Offer } from '../contract/model.ts';
import { isCapable, type Operation, operationEntry } from '../contract/operations.ts';
import { GatewayError } from '../errors.ts';
import type { LiveExchange } from './exchange.ts';

const longestShown = 120;

function shown(name: string): string {
  return name.length > longestShown ? `${name.slice(0, longestShown)}…` : name;
}

/** The routes that a model serves, for a client that chose another one. */
function routesOf({ snapshot }: LiveExchange, { model, tiers }: Offer): string {
  const candidates = tiers.flat();
  const serving = snapshot.routes.filter(
    ({ route, targets }) =>
      operationEntry(route.operation).capability !== null &&
      ((model.operations as readonly string[]).includes(route.operation) ||
        candidates.some((candidate) => targets.has(candidate))),
  );
  return serving.map(({ route }) => `${route.method} ${route.path}`).join(', ') || 'no route';
}

/**
 * The offer of the caller's group for a model; throws 404, 403 or 400. `others`: operations that this route serves
 * besides its own.
 */
export function resolveOffer(exchange: LiveExchange, name: string, others: readonly Operation[] = []): Offer {
  const { key, group } = exchange.principal!;
  const offer = group.offers.get(name);
  if (offer === undefined || (key.models !== null && !key.models.has(name))) {
    if (!exchange.snapshot.models.has(name))
      throw new GatewayError('model_not_found', `The model \`${shown(name)}\` does not exist. See GET /v1/models.`, {
        param: 'model',
      });
    throw new GatewayError(
      'model_not_allowed',
      `This key may not use the model \`${shown(name)}\`. See GET /v1/models.`,
      { param: 'model' },
    );
  }
  const { model } = offer;
  const { operation, path } = exchange.route;
  if (isCapable(model.operations, operation)) return offer;
  if (others.some((other) => isCapable(model.operations, other))) return offer;
  throw new GatewayError(
    'unsupported_endpoint',
    `The model \`${name}\` cannot be used on ${path}; it serves: ${routesOf(exchange, offer)}.`,
    { param: 'model' },
  );
}
