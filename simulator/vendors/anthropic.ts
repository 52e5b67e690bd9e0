import { nextId } from '../answers.ts';
import type { Answer, Call, Vendor } from '../contract.ts';
import { anthropicError, authorize, errorBody, refuse, statusError } from './anthropic/errors.ts';
import { answerCount, answerMessages } from './anthropic/messages.ts';
import { answerModel, answerModels } from './anthropic/models.ts';
import { refusalOf } from './anthropic/refusals.ts';

const MESSAGES = '/v1/messages';
const POST_ROUTES: Record<string, (call: Call) => Answer> = {
  [MESSAGES]: answerMessages,
  '/v1/messages/count_tokens': answerCount,
};

function handle(call: Call): Answer {
  authorize(call);
  const post = Object.hasOwn(POST_ROUTES, call.path) ? POST_ROUTES[call.path] : undefined;
  if (post && call.method === 'POST') return post(call);
  if (call.path === '/v1/models' && call.method === 'GET') return answerModels(call);
  const [, model] = /^\/v1\/models\/([^/]+)$/.exec(call.path) ?? [];
  if (model !== undefined && call.method === 'GET') return answerModel(model);
  if (post) return refuse(405, { message: 'Method Not Allowed' });
  return refuse(404, { type: 'not_found_error', message: 'Not found' });
}

/** Anthropic: messages, count_tokens, models. */
export const anthropic: Vendor = {
  name: 'anthropic',
  basePath: '/anthropic/v1',
  handle,
  failure: (status, retryAfter) => anthropicError(status, statusError(status), retryAfter),
  refusal: (kind, call, answer) => (call.path === MESSAGES ? refusalOf(kind, call) : answer),
  errorFrame: () => `event: error\ndata: ${JSON.stringify(errorBody(statusError(529), nextId('req_')))}\n\n`,
};
