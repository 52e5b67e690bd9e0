import { jsonAnswer } from '../../answers.ts';
import type { Answer, Call } from '../../contract.ts';
import { openaiHeaders, refuse } from './errors.ts';

const STANDARD_LIMIT = 20;
const LARGEST_LIMIT = 100;

/** A page of OpenAI's cursor lists: `limit`, `after`, `order` (newest first unless `asc`). `entries` are oldest first. */
export function answerPage(call: Call, entries: readonly { readonly id: string }[]): Answer {
  const limit = Number(call.query.get('limit') ?? STANDARD_LIMIT);
  if (!Number.isInteger(limit) || limit < 0 || limit > LARGEST_LIMIT)
    refuse(400, {
      message: `Invalid 'limit': expected an integer from 0 to ${LARGEST_LIMIT}.`,
      param: 'limit',
      code: 'invalid_value',
    });
  const order = call.query.get('order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc')
    refuse(400, {
      message: `Invalid value: '${order}'. Supported values are: 'asc' and 'desc'.`,
      param: 'order',
      code: 'invalid_value',
    });
  const ordered = order === 'asc' ? entries : entries.toReversed();
  const rest = ordered.slice(ordered.findIndex(({ id }) => id === call.query.get('after')) + 1);
  const data = rest.slice(0, limit);
  const ids = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
  return jsonAnswer(200, { object: 'list', data, ...ids, has_more: rest.length > data.length }, openaiHeaders());
}
