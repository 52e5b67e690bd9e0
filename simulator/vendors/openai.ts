import type { Answer, Call, Vendor } from '../contract.ts';
import { answerChat } from './openai/chat.ts';
import { answerCompletion } from './openai/completions.ts';
import { answerEmbeddings } from './openai/embeddings.ts';
import { authorize, openaiError, refuse, statusError } from './openai/errors.ts';
import { answerEdit } from './openai/image-edits.ts';
import { answerGeneration } from './openai/images.ts';
import { answerModel, answerModels } from './openai/models.ts';
import { answerModerations } from './openai/moderations.ts';
import { refusalOf } from './openai/refusals.ts';
import { answerResponses } from './openai/responses.ts';
import { responsesErrorFrame } from './openai/responses-failure.ts';
import { answerSpeech } from './openai/speech.ts';
import { answerTranscription, answerTranslation } from './openai/transcriptions.ts';
import { answerVideos } from './openai/videos.ts';

const POST_ROUTES: Record<string, (call: Call) => Answer> = {
  '/v1/chat/completions': answerChat,
  '/v1/completions': answerCompletion,
  '/v1/embeddings': answerEmbeddings,
  '/v1/moderations': answerModerations,
  '/v1/audio/transcriptions': answerTranscription,
  '/v1/audio/translations': answerTranslation,
  '/v1/audio/speech': answerSpeech,
  '/v1/images/generations': answerGeneration,
  '/v1/images/edits': answerEdit,
};

/** OpenAI over HTTP; its WebSocket is in `simulator/realtime/`. */
export const openai: Vendor = {
  name: 'openai',
  basePath: '/openai/v1',
  handle(call) {
    authorize(call);
    if (/^\/v1\/responses(\/|$)/.test(call.path)) return answerResponses(call);
    if (/^\/v1\/videos(\/|$)/.test(call.path)) return answerVideos(call);
    const post = POST_ROUTES[call.path];
    if (post && call.method === 'POST') return post(call);
    if (call.path === '/v1/models' && call.method === 'GET') return answerModels();
    if (call.path.startsWith('/v1/models/') && call.method === 'GET')
      return answerModel(call.path.slice('/v1/models/'.length));
    if (post)
      return refuse(405, { message: `Not allowed to ${call.method} on ${call.path}.`, code: 'method_not_supported' });
    return refuse(404, { message: `Invalid URL (${call.method} ${call.path})`, code: 'unknown_url' });
  },
  failure: (status, retryAfter) => openaiError(status, statusError(status), retryAfter),
  refusal: refusalOf,
  errorFrame(call, answer) {
    if (call.path === '/v1/responses') return responsesErrorFrame(call, answer);
    const { message, type = 'server_error', code = null } = statusError(500);
    const error = { message, type, param: null, code };
    return call.path.startsWith('/v1/images/')
      ? `event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`
      : `data: ${JSON.stringify({ error })}\n\n`;
  },
};
