/** The OpenAI error body, for routes whose protocol brings no form of its own and for paths that no route has. */
import { googleError } from '../wire/google/error.ts';
import { openAiError } from '../wire/openai/reply.ts';
import type { ReplyForm } from './compiled-route.ts';

export { openAiError };

export const plainForm: ReplyForm = { encodeError: openAiError };

/** For the model list of Gemini's clients. */
export const googleForm: ReplyForm = { encodeError: googleError };
