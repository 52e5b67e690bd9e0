/** The OpenAI error body, for routes whose protocol brings no form of its own and for paths that no route has. */
import { openAiError, openAiStreamError } from '../wire/openai/reply.ts';
import type { ReplyForm } from './compiled-route.ts';

export { openAiError };

export const plainForm: ReplyForm = {
  terminator: '',
  encodeError: openAiError,
  encodeStreamError: openAiStreamError,
};
