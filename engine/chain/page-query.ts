/** What a client asks for of a list: `limit`, `order`, and `after` which id it goes on. */
import { GatewayError } from '../errors.ts';

export interface PageQuery {
  /** 1 to 100. */
  readonly limit: number;
  /** By time; `desc`: the newest first. */
  readonly order: 'asc' | 'desc';
  readonly after: string | null;
}

const standardPage = '20';

/** Throws GatewayError `invalid_value`. */
export function pageQuery(query: string): PageQuery {
  const asked = new URLSearchParams(query);
  const limit = asked.get('limit') ?? standardPage;
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > 100)
    throw new GatewayError('invalid_value', '`limit` must be a whole number from 1 to 100.', { param: 'limit' });
  const order = asked.get('order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc')
    throw new GatewayError('invalid_value', '`order` must be `asc` or `desc`.', { param: 'order' });
  return { limit: Number(limit), order, after: asked.get('after') };
}
