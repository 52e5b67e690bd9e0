/** What a whole answer and a streamed one for a client have in common. */
import type { ChatCall, ChatEvent, FinishReason, JsonObject, TokenUsage } from '../../../engine/plugin.ts';
import { estimateTokens, madeId, replyHead } from '../../../engine/plugin.ts';
import { writeEnd } from './stop-reasons.ts';

type Of<T extends ChatEvent['type']> = Extract<ChatEvent, { type: T }>;

/** Members of every message; ids of other vendors are not this protocol's. */
export function messageHead(start: Of<'start'> | null, call: ChatCall): JsonObject {
  const { id, model } = replyHead(start, call, 'msg_');
  const own = id.startsWith('msg_') ? id : madeId('msg_');
  return { id: own, type: 'message', role: 'assistant', model };
}

/** How an answer ended, and what it cost as far as that was said. */
export class AnswerNotes {
  usage: TokenUsage | null = null;
  /** Characters of output. */
  characters = 0;
  private reason: FinishReason = 'stop';
  private stopSequence: string | null = null;
  private refusal = '';
  private calledTools = false;

  take(event: ChatEvent): void {
    if ('text' in event) this.characters += event.text.length;
    if (event.type === 'refusal') this.refusal += event.text;
    else if (event.type === 'tool-call') this.calledTools = true;
    else if (event.type === 'usage') this.usage = event.usage;
    else if (event.type === 'finish') {
      this.reason = event.reason;
      this.stopSequence = event.stopSequence ?? null;
    }
  }

  end(): JsonObject {
    const { reason, stopSequence, refusal, calledTools } = this;
    return writeEnd({ reason, stopSequence, refusal, calledTools });
  }

  /** What the vendor said, or an estimate. */
  counts({ body }: ChatCall): TokenUsage {
    return this.usage ?? { ...nothing, input: estimateTokens(body), output: Math.ceil(this.characters / 4) };
  }
}

const nothing: TokenUsage = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 };
