/** `:countTokens`: of contents, or of a whole request within. */
import { isObject, type JsonObject, type TokenCount } from '../../../engine/plugin.ts';
import { encodeRequest } from './encode-request.ts';
import { requestIn } from './fields.ts';
import { readCall } from './read-call.ts';

export const count: TokenCount = {
  readCall: (body, head) => ({ ...readCall(requestIn(body), head), body }),
  encodeReply: (tokens) => ({ totalTokens: tokens }),
  encodeRequest(request, vendorModel): JsonObject {
    const model = `models/${vendorModel}`;
    return { generateContentRequest: { model, ...encodeRequest(request, vendorModel) } };
  },
  decodeReply(body) {
    const tokens = isObject(body) ? body.totalTokens : undefined;
    return typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : null;
  },
};
