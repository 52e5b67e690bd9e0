/** A page of a list that is whole in memory, the oldest item first. */
import type { JsonObject } from '../../contract/values.ts';
import { pageQuery } from '../page-query.ts';

export function pageOf(items: readonly JsonObject[], query: string): JsonObject {
  const { limit, order, after } = pageQuery(query);
  const ordered = order === 'asc' ? items : items.toReversed();
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
