/** Why an answer ended, in both directions. */
import type { ChatEvent, FinishReason, JsonObject, JsonValue } from '../../../engine/plugin.ts';
import { isObject } from '../../../engine/plugin.ts';

/** Words this table does not know count as an ordinary end. */
const reasons: Readonly<Record<string, FinishReason>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool-calls',
  refusal: 'content-filter',
};

/** The last events of an answer: what a refusal explains, and the finish. `ended` holds `stop_reason` and its kin. */
export function finishEvents(ended: JsonObject): ChatEvent[] {
  const { stop_reason, stop_sequence, stop_details } = ended;
  const explanation = isObject(stop_details) ? stop_details.explanation : null;
  const finish: ChatEvent = {
    type: 'finish',
    choice: 0,
    reason: readReason(stop_reason),
    ...(typeof stop_sequence === 'string' ? { stopSequence: stop_sequence } : {}),
  };
  if (stop_reason !== 'refusal' || typeof explanation !== 'string' || explanation === '') return [finish];
  return [{ type: 'refusal', choice: 0, text: explanation }, finish];
}

const readReason = (value: JsonValue | undefined): FinishReason =>
  typeof value === 'string' && Object.hasOwn(reasons, value) ? reasons[value]! : 'stop';

export interface Ended {
  readonly reason: FinishReason;
  readonly stopSequence: string | null;
  /** What was said of a refusal. */
  readonly refusal: string;
  readonly calledTools: boolean;
}

/** `stop_reason`, `stop_sequence` and `stop_details`. Some vendors end with an ordinary word after calls and refusals. */
export function writeEnd({ reason, stopSequence, refusal, calledTools }: Ended): JsonObject {
  const isRefusal = reason === 'content-filter' || (refusal !== '' && reason === 'stop');
  const details = isRefusal ? { type: 'refusal', category: null, explanation: refusal || null } : null;
  const word = isRefusal ? 'refusal' : writeReason(reason, stopSequence, calledTools);
  return { stop_reason: word, stop_sequence: word === 'stop_sequence' ? stopSequence : null, stop_details: details };
}

function writeReason(reason: FinishReason, stopSequence: string | null, calledTools: boolean): string {
  if (reason === 'length') return 'max_tokens';
  if (calledTools) return 'tool_use';
  return stopSequence === null ? 'end_turn' : 'stop_sequence';
}
