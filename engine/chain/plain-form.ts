/** The OpenAI error body, for routes whose protocol brings no form of its own and for paths that no route has. */
import type { GatewayError } from '../errors.ts';
import type { ReplyForm } from './compiled-route.ts';

/** `{"error":{message,type,param,code}}`; the message ends with the request id (spec 7). */
export function openAiError(error: GatewayError, requestId: string) {
  return {
    error: {
      message: `${error.message} (request id: ${requestId})`,
      type: error.type,
      param: error.param,
      code: error.shownCode,
    },
  };
}

export const plainForm: ReplyForm = {
  terminator: '',
  encodeError: openAiError,
  encodeStreamError: (error, requestId) => `data: ${JSON.stringify(openAiError(error, requestId))}\n\n`,
};
