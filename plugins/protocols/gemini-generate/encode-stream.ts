/** Events as a stream of answers. The last one, with the reasons and the usage, is written when all went well. */
import {
  type ChatCall,
  type ChatEvent,
  type GatewayError,
  googleError,
  type JsonObject,
  type StreamEncoder,
  type TokenUsage,
} from '../../../engine/plugin.ts';
import { contentOf, encodeSaid, finishWord, headOf, OpenCalls, usageOf } from './encode-answer.ts';
import { createFrames, type FrameWriter } from './frames.ts';

export const encodeStream = (call: ChatCall): StreamEncoder => new AnswerStream(call);

class AnswerStream implements StreamEncoder {
  private readonly call: ChatCall;
  private readonly frames: FrameWriter;
  private head: JsonObject | null = null;
  private usage: TokenUsage | null = null;
  private readonly calls = new Map<number, OpenCalls>();
  private readonly ends: JsonObject[] = [];

  constructor(call: ChatCall) {
    this.call = call;
    this.frames = createFrames(call);
  }

  encode(event: ChatEvent): string {
    switch (event.type) {
      case 'start':
        this.head ??= headOf(event, this.call);
        return '';
      case 'usage':
        this.usage = event.usage;
        return '';
      case 'error':
        return '';
      case 'tool-call':
      case 'tool-arguments':
        this.callsOf(event.choice).take(event);
        return '';
      case 'finish':
        return this.finish(event);
      default:
        return this.frame([{ content: contentOf([encodeSaid(event)]), index: event.choice }]);
    }
  }

  end(): string {
    return this.frame(this.ends, usageOf(this.usage)) + this.frames.end();
  }

  encodeError(error: GatewayError, requestId: string): string {
    return this.frames.frame(JSON.stringify(googleError(error, requestId))) + this.frames.end();
  }

  private callsOf(choice: number): OpenCalls {
    const calls = this.calls.get(choice) ?? new OpenCalls();
    this.calls.set(choice, calls);
    return calls;
  }

  private finish({ choice, reason }: Extract<ChatEvent, { type: 'finish' }>): string {
    const { parts, broken } = this.callsOf(choice).encode();
    // Chats of Google's SDK forget a turn that has a piece without parts.
    this.ends.push({ content: contentOf([{ text: '' }]), finishReason: finishWord(reason, broken), index: choice });
    return parts.length === 0 ? '' : this.frame([{ content: contentOf(parts), index: choice }]);
  }

  private frame(candidates: readonly JsonObject[], rest: JsonObject = {}): string {
    this.head ??= headOf(null, this.call);
    return this.frames.frame(JSON.stringify({ candidates, ...rest, ...this.head }));
  }
}
