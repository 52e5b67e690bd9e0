/** A page of a list: `limit` (1 to 100, default 20), `order` (`desc` first), `after` an id. */
import type { JsonObject } from '../../contract/values.ts';
import { GatewayError } from '../../errors.ts';

export function pageOf(items: readonly JsonObject[], query: string): JsonObject {
  const asked = new URLSearchParams(query);
  const limit = Number(asked.get('limit') ?? 20);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100)
    throw new GatewayError('invalid_value', '`limit` must be between 1 and 100.', { param: 'limit' });
  const order = asked.get('order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc')
    throw new GatewayError('invalid_value', '`order` must be `asc` or `desc`.', { param: 'order' });
  const ordered = order === 'asc' ? items : items.toReversed();
  const after = asked.get('after');
  const start = after === null ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  const data = ordered.slice(start, start + limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + limit < ordered.length,
  };
}
