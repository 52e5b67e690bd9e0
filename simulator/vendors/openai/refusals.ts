import { epochSeconds, jsonAnswer, streamAnswer } from '../../answers.ts';
import type { Answer, Call } from '../../contract.ts';
import type { RefusalKind } from '../../faults/fault.ts';
import { openaiError, openaiHeaders } from './errors.ts';
import { responsesRefusal } from './responses-failure.ts';
import { videoRefusal } from './videos.ts';

/**
 * OpenAI refuses with 400: `moderation_blocked` for images, `invalid_prompt` for text. `noimage` is a 200 without data, a
 * stream without events, and nothing to those that draw no image.
 */
export function refusalOf(kind: RefusalKind, call: Call, answer: Answer): Answer {
  if (call.path.startsWith('/v1/responses')) return responsesRefusal(kind, answer);
  if (call.path.startsWith('/v1/videos')) return videoRefusal(kind, call, answer);
  const draws = call.path.startsWith('/v1/images/');
  if (kind === 'noimage') return draws ? withoutImages(answer) : answer;
  if (!draws)
    return openaiError(400, {
      message: 'Invalid prompt: your prompt was flagged as violating our usage policy.',
      code: 'invalid_prompt',
    });
  return openaiError(400, {
    message:
      'Your request was rejected by the safety system. If you believe this is an error, contact us and include the request ID.',
    type: 'image_generation_user_error',
    code: 'moderation_blocked',
    moderation_details: { moderation_stage: kind === 'prompt' ? 'input' : 'output', categories: ['other'] },
  });
}

function withoutImages({ streamed }: Answer): Answer {
  if (streamed) return streamAnswer([], 0, openaiHeaders());
  return jsonAnswer(200, { created: epochSeconds(), data: [] }, openaiHeaders());
}
