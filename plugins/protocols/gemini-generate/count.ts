/** `:countTokens`: of contents, or of a whole request within. */
import { isObject, type JsonObject, type TokenCount } from '../../../engine/plugin.ts';
import { encodeRequest } from './encode-request.ts';
import { messageAt } from './fields.ts';
import { readCall } from './read-call.ts';

export const count: TokenCount = {
  readCall(body, head) {
    const { generateContentRequest } = messageAt(body, 'body');
    const request =
      generateContentRequest === undefined ? body : messageAt(generateContentRequest, 'generateContentRequest');
    return readCall(request, head);
  },
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
