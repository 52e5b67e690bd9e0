import { wholeAnswer } from '../answers.ts';
import type { Answer, Call, Vendor } from '../contract.ts';
import { authorize, refuseArgument, refuseNotFound, xaiError } from './xai/errors.ts';
import { answerImages } from './xai/images.ts';
import { answerModels } from './xai/models.ts';
import { refusalOf } from './xai/refusals.ts';
import { answerVideoFile, answerVideos } from './xai/videos.ts';

const IMAGE_PATHS = ['/v1/images/generations', '/v1/images/edits'];

/** xAI: images and edits (JSON only), videos, models, and the files its answers point at. */
export const xai: Vendor = {
  name: 'xai',
  basePath: '/xai/v1',
  handle(call) {
    if (call.path.startsWith('/files/')) return answerVideoFile(call) ?? answerFile(call);
    authorize(call);
    if (IMAGE_PATHS.includes(call.path)) {
      if (call.method !== 'POST') return refuseArgument(405, 'Method Not Allowed');
      return answerImages(call);
    }
    if (call.path.startsWith('/v1/videos/')) return answerVideos(call);
    if (call.path === '/v1/models' && call.method === 'GET') return answerModels();
    return refuseNotFound(`The requested resource was not found: ${call.method} ${call.path}`);
  },
  failure: (status, retryAfter) => xaiError(status, undefined, retryAfter),
  refusal: refusalOf,
  errorFrame: () => `data: ${JSON.stringify({ error: 'The service is temporarily unavailable' })}\n\n`,
};

/** No credential is needed there, as on xAI's image host. */
function answerFile(call: Call): Answer {
  const picture = call.pictures.find(call.path.slice('/files/'.length));
  if (!picture) return refuseNotFound('The requested file was not found');
  return wholeAnswer(200, { 'content-type': picture.mime }, call.method === 'HEAD' ? [] : [picture.bytes]);
}
