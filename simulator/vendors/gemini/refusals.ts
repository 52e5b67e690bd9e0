import { dataFrame, nextId, streamAnswer } from '../../answers.ts';
import type { Answer, Call } from '../../contract.ts';
import type { RefusalKind } from '../../faults/fault.ts';
import { geminiAnswer } from './answer.ts';
import { MODELS } from './models.ts';

/** Gemini refuses with 200: a finish reason without content, a prompt feedback without candidates, or words for an image. */
export function refusalOf(kind: RefusalKind, call: Call): Answer {
  const usage = call.fault.nousage ? {} : { usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 } };
  const value = { ...bodyOf(kind, call.model ?? ''), ...usage, modelVersion: call.model, responseId: nextId('r-') };
  if (!call.path.endsWith(':streamGenerateContent')) return geminiAnswer(200, value);
  if (call.query.get('alt') === 'sse')
    return streamAnswer([dataFrame(`data: ${JSON.stringify(value)}\n\n`)], 0, {}, 'text/event-stream');
  return geminiAnswer(200, [value]);
}

function bodyOf(kind: RefusalKind, model: string): object {
  if (kind === 'prompt') return { promptFeedback: { blockReason: 'PROHIBITED_CONTENT', safetyRatings: [] } };
  if (kind === 'noimage') {
    const content = { parts: [{ text: 'I can only describe this – ein Bild gibt es nicht.' }], role: 'model' };
    return { candidates: [{ content, finishReason: 'NO_IMAGE', index: 0 }] };
  }
  const finishReason = MODELS[model]?.image ? 'IMAGE_SAFETY' : 'SAFETY';
  const finishMessage = 'Unable to show the generated image: it may violate the usage policy.';
  return { candidates: [{ finishReason, finishMessage, index: 0 }] };
}
