import { dataFrame, nextId, streamAnswer } from '../../answers.ts';
import type { Answer, Call, Frame } from '../../contract.ts';
import { geminiAnswer, JSON_TYPE } from './answer.ts';
import type { GenerateRequest } from './contents.ts';
import { refuse } from './errors.ts';
import { imageFragments } from './image.ts';
import { modelFor } from './models.ts';
import { type AnswerPart, joinParts, type Production } from './production.ts';
import { checkGenerateRequest, readGenerateRequest, readMessage } from './request.ts';
import { textFragments } from './text.ts';
import { type Prompt, promptTokens } from './tokens.ts';

/** `:generateContent` and `:streamGenerateContent`, for text and image models. */
export function answerGenerate(call: Call): Answer {
  const { name, facts } = modelFor(call, 'generateContent');
  const request = readGenerateRequest(call, facts);
  const production = facts.image
    ? imageFragments(request, facts.image, name, call)
    : textFragments(request, facts, call);
  const prompt = promptTokens(request);
  const head = { modelVersion: name, responseId: nextId('r-') };
  const ratings = ratingsOf(request);
  if (call.path.endsWith(':streamGenerateContent')) return streamFragments(production, prompt, head, ratings, call);
  const parts = joinParts(production.fragments.flat());
  const candidates = candidatesOf(production, parts, { finishReason: production.finish, ...ratings });
  const usage = call.fault.nousage ? {} : { usageMetadata: usageOf(production, prompt) };
  return geminiAnswer(200, { candidates, ...usage, ...head }, production.images);
}

/** With `alt=sse` events, without it one JSON array, written element by element. */
function streamFragments(production: Production, prompt: Prompt, head: object, ratings: object, call: Call): Answer {
  const sse = call.query.get('alt') === 'sse';
  const last = production.fragments.length - 1;
  const frames = production.fragments.map((parts, index): Frame => {
    const finish = index === last ? { finishReason: production.finish, ...ratings } : {};
    const candidates = candidatesOf(production, parts, finish);
    const soFar =
      index === last ? usageOf(production, prompt) : { promptTokenCount: prompt.total, totalTokenCount: prompt.total };
    const usage = call.fault.nousage ? {} : { usageMetadata: soFar };
    const text = production.render({ candidates, ...usage, ...head });
    if (sse) return dataFrame(`data: ${text}\n\n`);
    return dataFrame(`${index === 0 ? '[' : ',\r\n'}${text}${index === last ? ']' : ''}`);
  });
  return streamAnswer(frames, production.delay, {}, sse ? 'text/event-stream' : JSON_TYPE);
}

/** A candidate that has nothing to say has no parts at all. */
function candidatesOf({ candidates }: Production, parts: readonly AnswerPart[], rest: object): object[] {
  const content = parts.length > 0 ? { parts, role: 'model' } : { role: 'model' };
  return Array.from({ length: candidates }, (_, index) => ({ content, ...rest, index }));
}

/** One rating for each category that the request sets a threshold for. */
function ratingsOf({ safetySettings }: GenerateRequest): object {
  if (!safetySettings || safetySettings.length === 0) return {};
  return { safetyRatings: safetySettings.map(({ category }) => ({ category, probability: 'NEGLIGIBLE' })) };
}

function usageOf({ tokens, thoughts, cached, modality }: Production, prompt: Prompt): object {
  return {
    promptTokenCount: prompt.total,
    candidatesTokenCount: tokens,
    totalTokenCount: prompt.total + tokens + thoughts,
    promptTokensDetails: prompt.details,
    candidatesTokensDetails: [{ modality, tokenCount: tokens }],
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
    ...(cached > 0 ? cachedUsage(Math.min(cached, prompt.total)) : {}),
  };
}

function cachedUsage(tokenCount: number): object {
  return { cachedContentTokenCount: tokenCount, cacheTokensDetails: [{ modality: 'TEXT', tokenCount }] };
}

/** `:countTokens`, of contents or of a whole request, never of both. */
export function answerCount(call: Call): Answer {
  const { name, facts } = modelFor(call);
  const { generateContentRequest, ...body } = readMessage('CountTokensRequest', call) as Partial<GenerateRequest> & {
    generateContentRequest?: Partial<GenerateRequest> & { model?: string };
  };
  if (generateContentRequest && body.contents)
    refuse(400, { message: 'Only one of contents and generate_content_request can be set.' }, call);
  const model = generateContentRequest?.model?.split('!')[0];
  if (model !== undefined && model !== `models/${name}`)
    refuse(
      400,
      { message: `GenerateContentRequest.model: unexpected model name format or another model: ${model}` },
      call,
    );
  const prompt = promptTokens(checkGenerateRequest(generateContentRequest ?? body, call, facts));
  return geminiAnswer(200, { totalTokens: prompt.total, promptTokensDetails: prompt.details });
}
