/** `/responses/input_tokens`. */
import { isObject, type JsonObject, type TokenCount, unsupported } from '../../../engine/plugin.ts';
import { encodeQuestion } from './encode-request.ts';
import { readInput } from './read-call.ts';

export const count: TokenCount = {
  readCall(body) {
    refusePrevious(body);
    return readInput(body);
  },
  encodeReply: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
  encodeRequest: encodeQuestion,
  decodeReply: (body) => (isObject(body) && typeof body.input_tokens === 'number' ? body.input_tokens : null),
};

/** Stored conversations are looked up where they are continued only. */
function refusePrevious({ previous_response_id }: JsonObject): void {
  if ((previous_response_id ?? null) !== null)
    throw unsupported('previous_response_id', 'is not supported here: count the whole input.');
}
