/** Writing a stream of OpenAI chunks: the common members, and when the chunk with the usage is due. */
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
  private readonly open = new Set<number>();
  private readonly finished = new Set<number>();
  private usage: TokenUsage | null = null;
  private usageSent = false;

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
    if (this.open.has(choice) || this.finished.has(choice)) return false;
    this.open.add(choice);
    return true;
  }

  chunk(choice: JsonObject): string {
    if (this.head === '') this.start(null);
    return this.head + JSON.stringify(choice) + this.tail;
  }

  /** A choice has ended; answers the usage chunk where it was the last and the usage is already known. */
  closes(choice: number): string {
    this.open.delete(choice);
    this.finished.add(choice);
    return this.usageChunk();
  }

  /** Some vendors report with every chunk: the client gets one report, after the last choice has ended. */
  takes(usage: TokenUsage): string {
    this.usage = usage;
    return this.usageChunk();
  }

  private usageChunk(): string {
    if (!this.call.wantsUsage || this.usage === null || this.usageSent || !this.isOver()) return '';
    if (this.head === '') this.start(null);
    this.usageSent = true;
    return `${this.head}],"usage":${JSON.stringify(writeOpenAiUsage(this.usage))}}\n\n`;
  }

  private isOver(): boolean {
    return this.finished.size >= this.call.choices || (this.finished.size > 0 && this.open.size === 0);
  }
}
