import type { Answer, Call, Vendor } from '../contract.ts';
import { answerBatch, answerEmbed } from './gemini/embed.ts';
import { authorize, geminiError, refuse, statusError } from './gemini/errors.ts';
import { answerCount, answerGenerate } from './gemini/generate.ts';
import { answerModel, answerModels } from './gemini/models.ts';
import { refusalOf } from './gemini/refusals.ts';
import { answerDownload, answerPredict, answerVideoPath } from './gemini/videos.ts';

const ACTIONS: Record<string, (call: Call) => Answer> = {
  generateContent: answerGenerate,
  streamGenerateContent: answerGenerate,
  countTokens: answerCount,
  embedContent: answerEmbed,
  batchEmbedContents: answerBatch,
  predictLongRunning: answerPredict,
};

/** Gemini API: generateContent, streamGenerateContent (SSE and JSON array), countTokens, embedContent, batchEmbedContents, Veo's operations, models. */
export const gemini: Vendor = {
  name: 'gemini',
  basePath: '/gemini/v1beta',
  handle(call) {
    if (call.path.startsWith('/download/')) return answerDownload(call);
    authorize(call);
    const video = answerVideoPath(call);
    if (video) return video;
    const [, model, action] = /^\/v1beta\/models\/([^/:]+)(?::([A-Za-z]+))?$/.exec(call.path) ?? [];
    if (call.path === '/v1beta/models' && call.method === 'GET') return answerModels(call);
    if (model !== undefined && action === undefined && call.method === 'GET') return answerModel(model, call);
    const answer = action !== undefined && Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
    if (answer && call.method === 'POST') return answer({ ...call, model });
    return refuse(404, { message: `Method not found: ${call.method} ${call.path}` }, call);
  },
  failure: (status, retryAfter, call) => geminiError(status, statusError(status, retryAfter), call),
  refusal: (kind, call, answer) => (/:\w*[gG]enerateContent$/.test(call.path) ? refusalOf(kind, call) : answer),
  errorFrame(call) {
    const error = { code: 503, ...statusError(503), status: 'UNAVAILABLE' };
    return call.query.get('alt') === 'sse'
      ? `data: ${JSON.stringify({ error })}\n\n`
      : `${call.fault.errorframe === 0 ? '[' : ',\r\n'}${JSON.stringify({ error })}]`;
  },
};
