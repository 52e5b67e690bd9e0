/** Writing a stream of OpenAI chunks: the common members, and what closes it. */
import type { ChatCall, ChatEvent, FinishReason } from '../../contract/chat.ts';
import type { TokenUsage } from '../../contract/usage.ts';
import type { JsonObject } from '../../contract/values.ts';
import { madeId } from '../made-id.ts';
import { writeOpenAiUsage } from './usage.ts';

type StartEvent = Extract<ChatEvent, { type: 'start' }>;

/** Members of every reply; what the vendor did not say is made up. `created` in seconds since 1970. */
export function replyHead(start: StartEvent | null, call: ChatCall, idPrefix: string) {
  return {
    id: start?.id || madeId(idPrefix),
    created: start?.created || Math.floor(Date.now() / 1000),
    model: start?.model || call.model,
  };
}

const finishWords: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
};

export const writeFinish = (reason: FinishReason): string => finishWords[reason];

export class ChunkWriter {
  private readonly call: ChatCall;
  private readonly object: string;
  private readonly idPrefix: string;
  private readonly tail: string;
  private head = '';
  private readonly opened = new Set<number>();
  /** Some vendors report with every chunk: what they said last counts. */
  usage: TokenUsage | null = null;

  constructor(call: ChatCall, object: string, idPrefix: string) {
    this.call = call;
    this.object = object;
    this.idPrefix = idPrefix;
    this.tail = call.wantsUsage ? '],"usage":null}\n\n' : ']}\n\n';
  }

  start(event: StartEvent | null): void {
    const { id, created, model } = replyHead(event, this.call, this.idPrefix);
    const common = JSON.stringify({ id, object: this.object, created, model });
    this.head = `data: ${common.slice(0, -1)},"choices":[`;
  }

  /** True the first time a choice is met. */
  opens(choice: number): boolean {
    if (this.opened.has(choice)) return false;
    this.opened.add(choice);
    return true;
  }

  chunk(choice: JsonObject): string {
    if (this.head === '') this.start(null);
    return this.head + JSON.stringify(choice) + this.tail;
  }

  /** What closes a stream that went well. A choice can end long before its vendor has counted the tokens. */
  end(): string {
    return `${this.usageChunk()}data: [DONE]\n\n`;
  }

  private usageChunk(): string {
    if (!this.call.wantsUsage || this.usage === null) return '';
    if (this.head === '') this.start(null);
    return `${this.head}],"usage":${JSON.stringify(writeOpenAiUsage(this.usage))}}\n\n`;
  }
}
