import { dataFrame, jsonAnswer, nextId, streamAnswer } from '../../answers.ts';
import type { Answer, Call, Frame } from '../../contract.ts';
import { countTokens } from '../../reply-text.ts';
import { imageFragments } from './image.ts';
import { modelFor } from './models.ts';
import { joinParts, type Production } from './production.ts';
import {
  checkContents,
  type GenerateRequest,
  inputImages,
  readGenerateRequest,
  readMessage,
  textOf,
} from './request.ts';
import { textFragments } from './text.ts';

const TOKENS_PER_IMAGE = 258;

/** `:generateContent` and `:streamGenerateContent`, for text and image models. */
export function answerGenerate(call: Call): Answer {
  const { name, facts } = modelFor(call);
  const request = readGenerateRequest(call);
  const production = facts.image ? imageFragments(request, facts.image, name, call) : textFragments(request, call);
  const prompt = promptTokens(request);
  const head = { modelVersion: name, responseId: nextId('r-') };
  if (call.path.endsWith(':streamGenerateContent')) return streamFragments(production, prompt, head, call);
  const candidate = {
    content: { parts: joinParts(production.fragments.flat()), role: 'model' },
    finishReason: production.finish,
    index: 0,
  };
  const candidates = Array.from({ length: production.candidates }, (_, index) => ({ ...candidate, index }));
  const usage = call.fault.nousage ? {} : { usageMetadata: usageOf(production, prompt) };
  return jsonAnswer(200, { candidates, ...usage, ...head }, {}, production.images);
}

/** With `alt=sse` events, without it one JSON array, written element by element. */
function streamFragments(production: Production, prompt: Prompt, head: object, call: Call): Answer {
  const sse = call.query.get('alt') === 'sse';
  const last = production.fragments.length - 1;
  const frames = production.fragments.map((parts, index): Frame => {
    const finish = index === last ? { finishReason: production.finish } : {};
    const candidates = [{ content: { parts, role: 'model' }, ...finish, index: 0 }];
    const soFar =
      index === last ? usageOf(production, prompt) : { promptTokenCount: prompt.total, totalTokenCount: prompt.total };
    const usage = call.fault.nousage ? {} : { usageMetadata: soFar };
    const text = production.render({ candidates, ...usage, ...head });
    if (sse) return dataFrame(`data: ${text}\n\n`);
    return dataFrame(`${index === 0 ? '[' : ',\r\n'}${text}${index === last ? ']' : ''}`);
  });
  return streamAnswer(frames, production.delay, {}, sse ? 'text/event-stream' : 'application/json; charset=UTF-8');
}

interface Prompt {
  readonly text: number;
  readonly image: number;
  readonly total: number;
}

/** One token per four characters of text, 258 an image. */
function promptTokens(request: Pick<GenerateRequest, 'contents' | 'systemInstruction'>): Prompt {
  const system = request.systemInstruction ? [request.systemInstruction] : [];
  const text = countTokens(textOf([...system, ...request.contents]));
  const image = inputImages(request.contents).length * TOKENS_PER_IMAGE;
  return { text, image, total: text + image };
}

function promptDetails({ text, image }: Prompt): object[] {
  const images = image > 0 ? [{ modality: 'IMAGE', tokenCount: image }] : [];
  return [{ modality: 'TEXT', tokenCount: text }, ...images];
}

function usageOf({ tokens, thoughts, cached, modality }: Production, prompt: Prompt): object {
  return {
    promptTokenCount: prompt.total,
    candidatesTokenCount: tokens,
    totalTokenCount: prompt.total + tokens + thoughts,
    promptTokensDetails: promptDetails(prompt),
    candidatesTokensDetails: [{ modality, tokenCount: tokens }],
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
    ...(cached > 0 ? { cachedContentTokenCount: Math.min(cached, prompt.total) } : {}),
  };
}

/** `:countTokens`, of contents or of a whole request. */
export function answerCount(call: Call): Answer {
  modelFor(call);
  const body = readMessage('CountTokensRequest', call) as Partial<GenerateRequest> & {
    generateContentRequest?: Partial<GenerateRequest>;
  };
  const { contents = [], ...rest } = body.generateContentRequest ?? body;
  checkContents(contents, call);
  const prompt = promptTokens({ contents, ...rest });
  return jsonAnswer(200, { totalTokens: prompt.total, promptTokensDetails: promptDetails(prompt) });
}
