import type { Answer, Call, Vendor } from '../contract.ts';
import { answerEmbeddings } from './jina/embeddings.ts';
import { authorize, jinaError, refuse } from './jina/errors.ts';
import { answerRerank } from './jina/rerank.ts';

const POST_ROUTES: Record<string, (call: Call) => Answer> = {
  '/v1/rerank': answerRerank,
  '/v1/embeddings': answerEmbeddings,
};

/** Jina: rerank and embeddings. */
export const jina: Vendor = {
  name: 'jina',
  basePath: '/jina/v1',
  handle(call) {
    authorize(call);
    const post = Object.hasOwn(POST_ROUTES, call.path) ? POST_ROUTES[call.path] : undefined;
    if (post && call.method === 'POST') return post(call);
    return refuse(post ? 405 : 404, post ? 'Method Not Allowed' : 'Not Found');
  },
  failure: (status, retryAfter) => jinaError(status, undefined, retryAfter),
  refusal: () => jinaError(400, 'The input was refused by our content policy.'),
  errorFrame: () => `data: ${JSON.stringify({ detail: 'Internal server error' })}\n\n`,
};
