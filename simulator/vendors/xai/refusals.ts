import { imageSlot, jsonAnswer } from '../../answers.ts';
import { isRecord } from '../../checks.ts';
import type { Answer, Call } from '../../contract.ts';
import type { RefusalKind } from '../../faults/fault.ts';
import { MODELS } from './models.ts';

const SMALL = { format: 'jpeg', width: 960, height: 960, seed: 'kept' } as const;

/** `safety` and `some`: 200 with `respect_moderation:false`; `prompt`: 400, and charged all the same; `noimage`: an empty item. */
export function refusalOf(kind: RefusalKind, call: Call, answer: Answer): Answer {
  if (!call.path.startsWith('/v1/images/') && !(kind === 'prompt' && call.method === 'POST')) return answer;
  const cost = { cost_in_usd_ticks: MODELS[call.model ?? '']?.ticks ?? 0 };
  const usage = call.fault.nousage ? {} : { usage: cost };
  if (kind === 'prompt') {
    const error = 'Generated image rejected by content moderation.';
    return jsonAnswer(400, { code: 'imagine:content-moderated', error, ...usage });
  }
  const blocked = { revised_prompt: '', ...(kind === 'noimage' ? {} : { respect_moderation: false }) };
  const body = call.body.kind === 'json' && isRecord(call.body.value) ? call.body.value : {};
  const count = typeof body.n === 'number' ? body.n : 1;
  const kept = kind === 'some' ? Math.max(0, count - 1) : 0;
  const picture = call.pictures.draw(SMALL);
  const place = (): object =>
    body.response_format === 'b64_json'
      ? { b64_json: imageSlot(0) }
      : { url: `${call.origin}/xai/files/${call.pictures.publish(picture)}` };
  const good = Array.from({ length: kept }, () => ({ ...place(), mime_type: picture.mime, respect_moderation: true }));
  const bad = Array.from({ length: count - kept }, () => blocked);
  return jsonAnswer(200, { data: [...bad, ...good], ...usage }, {}, [picture.base64]);
}
