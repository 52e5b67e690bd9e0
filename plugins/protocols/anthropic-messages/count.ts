/** `/messages/count_tokens`: `{"input_tokens":812}`. */
import { isObject, type TokenCount } from '../../../engine/plugin.ts';
import { encodeCountRequest } from './encode-request.ts';
import { readConversation } from './read-call.ts';

export const count: TokenCount = {
  readCall: readConversation,
  encodeReply: (tokens) => ({ input_tokens: tokens }),
  encodeRequest: encodeCountRequest,
  decodeReply: (body) => (isObject(body) && typeof body.input_tokens === 'number' ? body.input_tokens : null),
};
