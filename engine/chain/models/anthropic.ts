/** The model list in Anthropic's form: newest keys too, null where the gateway does not know. */
import type { Exchange } from '../../contract/exchange.ts';
import type { Model } from '../../contract/model.ts';
import type { JsonObject } from '../../contract/values.ts';
import { GatewayError } from '../../errors.ts';

export const versionHeader = 'anthropic-version';

const usualPage = 20;
const largestPage = 1000;

export const anthropicModel = ({ name, created, maxOutputTokens }: Model): JsonObject => ({
  type: 'model',
  id: name,
  display_name: name,
  created_at: `${new Date(created * 1000).toISOString().slice(0, -5)}Z`,
  line: null,
  lifecycle: 'active',
  deprecated_at: null,
  retires_at: null,
  max_input_tokens: null,
  max_tokens: maxOutputTokens,
  capabilities: null,
});

/** One page: `limit` models behind `after_id`, or before `before_id`. Throws `invalid_value` for a cursor that is none. */
export function anthropicModelList(models: readonly Model[], { query }: Exchange): JsonObject {
  const asked = new URLSearchParams(query);
  const limit = limitOf(asked.get('limit'));
  const end = placeOf(models, asked, 'before_id') ?? models.length;
  const isBackwards = asked.has('before_id');
  const begin = Math.max((placeOf(models, asked, 'after_id') ?? -1) + 1, isBackwards ? end - limit : 0);
  const page = models.slice(begin, Math.min(end, begin + limit));
  return {
    data: page.map(anthropicModel),
    first_id: page[0]?.name ?? null,
    last_id: page.at(-1)?.name ?? null,
    has_more: isBackwards ? begin > 0 : begin + page.length < models.length,
  };
}

function limitOf(text: string | null): number {
  if (text === null) return usualPage;
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= largestPage) return limit;
  throw new GatewayError('invalid_value', `\`limit\` must be an integer from 1 to ${largestPage}.`, { param: 'limit' });
}

function placeOf(models: readonly Model[], asked: URLSearchParams, param: string): number | null {
  const name = asked.get(param);
  if (name === null || name === '') return null;
  const place = models.findIndex((model) => model.name === name);
  if (place >= 0) return place;
  throw new GatewayError('invalid_value', `\`${param}\` names no model of this list.`, { param });
}
