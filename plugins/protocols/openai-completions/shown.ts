/** What of an answer this protocol can show: text, and a refusal in its place. Reasoning, pictures and calls are not text. */
import { type ChatEvent, type FinishReason, writeFinish } from '../../../engine/plugin.ts';

export function shownText(event: ChatEvent): string {
  return event.type === 'text' || event.type === 'refusal' ? event.text : '';
}

/** There are no tools here: an answer that ends with a call has ended. */
export const shownFinish = (reason: FinishReason): string => writeFinish(reason === 'tool-calls' ? 'stop' : reason);
