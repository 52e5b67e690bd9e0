/** Why an answer ended, in both directions. */
import { type FinishReason, googleRefusals } from '../../../engine/plugin.ts';

const reasons: Readonly<Record<string, FinishReason>> = {
  MAX_TOKENS: 'length',
  CONTINUATION: 'length',
  ...Object.fromEntries([...googleRefusals].map((word) => [word, 'content-filter'])),
};

/** Words this table does not know count as an ordinary end. */
export function readFinish(word: string, calls: boolean): FinishReason {
  const reason = Object.hasOwn(reasons, word) ? reasons[word]! : 'stop';
  return reason === 'stop' && calls ? 'tool-calls' : reason;
}

/** The model made something that is no answer: where it said nothing else, there is none. */
export const isBotched = (word: string): boolean =>
  /^(MALFORMED_FUNCTION_CALL|UNEXPECTED_TOOL_CALL|TOO_MANY_TOOL_CALLS|MALFORMED_RESPONSE)$/.test(word);

const words: Readonly<Record<FinishReason, string>> = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  'tool-calls': 'STOP',
  'content-filter': 'SAFETY',
};

export const writeFinish = (reason: FinishReason): string => words[reason];
