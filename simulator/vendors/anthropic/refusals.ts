import { isRecord } from '../../checks.ts';
import type { Answer, Call } from '../../contract.ts';
import type { RefusalKind } from '../../faults/fault.ts';
import { piecesOf } from '../../reply-text.ts';
import { streamMessage, wholeMessage } from './answer.ts';
import { modelFor } from './models.ts';
import type { Ending, Outcome, OutputBlock } from './outcome.ts';

const INPUT = {
  input_tokens: 9,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
};
const REFUSED: Ending = {
  reason: 'refusal',
  sequence: null,
  details: {
    type: 'refusal',
    category: 'general_harms',
    explanation: 'This request was declined because it may violate the usage policy.',
  },
};

/** Anthropic refuses with 200: without content (`prompt`), or after a beginning; `noimage` ends its turn without content. */
export function refusalOf(kind: RefusalKind, call: Call): Answer {
  const begins = kind === 'safety' || kind === 'some';
  const beginning = piecesOf('Let me see –', 2);
  const blocks: OutputBlock[] = begins ? [{ type: 'text', text: beginning.text, pieces: beginning.pieces }] : [];
  const outcome: Outcome = {
    model: modelFor(call).dated,
    blocks,
    ending: kind === 'noimage' ? { ...REFUSED, reason: 'end_turn', details: null } : REFUSED,
    input: INPUT,
    outputTokens: begins ? beginning.tokens : 0,
    thinkingTokens: 0,
    delay: 0,
  };
  const { body } = call;
  const streamed = body.kind === 'json' && isRecord(body.value) && body.value.stream === true;
  return streamed ? streamMessage(outcome, call) : wholeMessage(outcome, call);
}
