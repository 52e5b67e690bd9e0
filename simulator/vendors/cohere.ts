import { nextId } from '../answers.ts';
import type { Answer, Call, Vendor } from '../contract.ts';
import { answerEmbed } from './cohere/embed.ts';
import { authorize, cohereError, refuse } from './cohere/errors.ts';
import { answerRerank } from './cohere/rerank.ts';

const POST_ROUTES: Record<string, (call: Call) => Answer> = { '/v2/rerank': answerRerank, '/v2/embed': answerEmbed };

/** Cohere: rerank and embed, version 2. */
export const cohere: Vendor = {
  name: 'cohere',
  basePath: '/cohere/v2',
  handle(call) {
    authorize(call);
    const post = Object.hasOwn(POST_ROUTES, call.path) ? POST_ROUTES[call.path] : undefined;
    if (post && call.method === 'POST') return post(call);
    return refuse(post ? 405 : 404, post ? 'method not allowed' : `${call.path} not found`);
  },
  failure: (status, retryAfter) => cohereError(status, undefined, retryAfter),
  refusal: () => cohereError(400, 'invalid request: the request was blocked by our content policy'),
  errorFrame: () => `data: ${JSON.stringify({ message: 'internal server error', id: nextId('err-') })}\n\n`,
};
