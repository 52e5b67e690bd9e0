/**
 * The contract of chat-like protocols (openai-chat, openai-completions, openai-responses, anthropic-messages,
 * gemini-generate). Each is one module with both directions, so that N client and M vendor protocols cost N + M.
 * Equal protocols on both sides take the relay: bytes pass, and only a tap reads them.
 */
import type { GatewayError } from '../errors.ts';
import type { FeatureTable } from './features.ts';
import type { ChatImages } from './image.ts';
import type { ChatState } from './responses.ts';
import type { TokenUsage } from './usage.ts';
import type { JsonObject, JsonValue } from './values.ts';
import type { ParameterOverrides, SseFrame, ToolNameRule, VendorError } from './wire.ts';

/** What of a request's head a protocol may read: some say in the path what others say in the body. */
export interface CallHead {
  readonly path: string;
  /** Value of the route's `:name` or `*` part, as it came; '' where it has none. */
  readonly parameter: string;
  /** Without the question mark; ''. */
  readonly query: string;
}

/** What the engine must know of any chat request, read once from the parsed body. */
export interface ChatCall {
  readonly kind: 'chat';
  readonly model: string;
  readonly stream: boolean;
  /** The client asked for usage in its stream; where it did not, the usage chunk is hidden from it. */
  readonly wantsUsage: boolean;
  /** The client's own bound on output tokens; null: none. */
  readonly maxOutputTokens: number | null;
  /** How many answers (`n`, `best_of`); multiplies the output estimate. */
  readonly choices: number;
  readonly body: JsonObject;
}

export type ChatPart =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'image';
      readonly mediaType: string | null;
      readonly data: string | null;
      readonly url: string | null;
      readonly detail?: string;
    }
  | { readonly type: 'audio'; readonly mediaType: string; readonly data: string }
  | {
      readonly type: 'file';
      readonly mediaType: string | null;
      readonly name: string | null;
      readonly data: string | null;
      readonly url: string | null;
      readonly id: string | null;
    }
  /**
   * A thought. `signature` is what its vendor must get back unchanged, with the protocol it came in before a colon
   * (`anthropic-messages:EqQB…`): only a vendor of that protocol gets it. A thought without text may still have one.
   */
  | { readonly type: 'reasoning'; readonly text: string; readonly signature: string | null }
  | { readonly type: 'refusal'; readonly text: string }
  | {
      readonly type: 'tool-call';
      readonly id: string;
      readonly name: string;
      /** JSON text. */
      readonly arguments: string;
      readonly signature?: string;
    }
  | { readonly type: 'tool-result'; readonly id: string; readonly parts: readonly ChatPart[]; readonly error: boolean };

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly name?: string;
  readonly parts: readonly ChatPart[];
}

export interface ChatTool {
  readonly name: string;
  readonly description: string | null;
  readonly parameters: JsonValue;
  readonly strict: boolean | null;
  /** Takes plain text: `parameters` and the arguments of its calls hold it as the one string `input` (wire/custom-tool.ts). */
  readonly custom?: true;
}

/** A chat request that no protocol owns. Absent and null mean: not said. */
export interface ChatRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ChatTool[];
  readonly toolChoice: 'auto' | 'none' | 'required' | { readonly name: string } | null;
  readonly parallelToolCalls: boolean | null;
  readonly maxOutputTokens: number | null;
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly topK: number | null;
  readonly choices: number | null;
  readonly stop: readonly string[];
  readonly seed: number | null;
  readonly presencePenalty: number | null;
  readonly frequencyPenalty: number | null;
  /** `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max` */
  readonly reasoningEffort: string | null;
  /** Tokens to think with, where the client says a number. */
  readonly reasoningBudget: number | null;
  /** Whether thoughts (or a summary of them) are to be shown. */
  readonly reasoningShown: boolean | null;
  /** `low`, `medium`, `high` */
  readonly verbosity: string | null;
  readonly responseFormat:
    | { readonly type: 'text' | 'json' }
    | { readonly type: 'schema'; readonly name: string; readonly schema: JsonValue; readonly strict: boolean | null }
    | null;
  readonly user: string | null;
  /** Fields only this protocol knows, for a vendor that speaks it too. */
  readonly extra: JsonObject;
}

export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'content-filter';

/** What happens in an answer, whole or streamed. `choice` counts from 0. A whole reply is the fold of its events. */
export type ChatEvent =
  | { readonly type: 'start'; readonly id: string; readonly model: string; readonly created: number }
  | { readonly type: 'text'; readonly choice: number; readonly text: string }
  /** A piece of a thought; one with a signature (see ChatPart) ends its thought. */
  | { readonly type: 'reasoning'; readonly choice: number; readonly text: string; readonly signature?: string }
  | { readonly type: 'refusal'; readonly choice: number; readonly text: string }
  | {
      readonly type: 'tool-call';
      readonly choice: number;
      readonly index: number;
      readonly id: string;
      readonly name: string;
      readonly signature?: string;
    }
  | { readonly type: 'tool-arguments'; readonly choice: number; readonly index: number; readonly text: string }
  | { readonly type: 'image'; readonly choice: number; readonly mediaType: string; readonly data: string }
  | {
      readonly type: 'finish';
      readonly choice: number;
      readonly reason: FinishReason;
      /** The stop sequence that ended it, where the vendor says. */
      readonly stopSequence?: string;
    }
  | { readonly type: 'usage'; readonly usage: TokenUsage }
  | { readonly type: 'error'; readonly error: GatewayError };

/** What the tap of a streamed relay saw so far. */
export interface StreamTap {
  /**
   * Takes a chunk, answers the bytes that go to the client now (the same Buffer where nothing is hidden or kept back,
   * null where nothing may go yet). Only an incomplete frame is ever kept back, never a complete one, but for the
   * closing marker, which the engine writes itself once the charge is in the journal.
   */
  push(chunk: Buffer): Buffer | null;
  /** The vendor's stream ended cleanly: the rest that may still go out, or null. */
  flush(): Buffer | null;
  /** An event was seen (comments do not count). */
  readonly begun: boolean;
  /** The closing marker or the protocol's last event was seen: nothing that follows counts. */
  readonly finished: boolean;
  /** A clean end here would be a whole answer (a finish reason was seen). */
  readonly complete: boolean;
  readonly usage: TokenUsage | null;
  /** The client was told the end of every choice, perhaps by the gateway: a vendor that breaks now takes nothing from it. */
  readonly answered?: boolean;
  /** An error event within the stream. */
  readonly error: VendorError | null;
  /** Output tokens as the gateway counts them, for where the vendor reports no usage. */
  readonly estimatedOutput: number;
  /** Images among what was answered (a tool of the vendor's that draws). */
  readonly images?: number;
  /** The last bytes of a stream that went well, written once the charge is in the journal. */
  closing(): Buffer;
  /** An error within the stream that already began, as one frame. */
  encodeError(error: GatewayError, requestId: string): string;
}

/** A streamed answer in the client's words. */
export interface StreamEncoder {
  /** '' for an event this protocol does not show. */
  encode(event: ChatEvent): string;
  /** What closes a stream that went well: the last events, `data: [DONE]`, or ''. */
  end(): string;
  /** An error within a stream that already began, as one frame. */
  encodeError(error: GatewayError, requestId: string): string;
}

/** Same protocol on both sides. */
export interface ChatRelay {
  /** The vendor's bytes: the client's with the model's name replaced, usage asked for, and nothing else touched. */
  request(body: Buffer, call: ChatCall, vendorModel: string, overrides: ParameterOverrides | null): Buffer;
  /** Reads usage from a whole reply, or the error that a 200 hides. */
  reply(body: Buffer): {
    readonly usage: TokenUsage | null;
    readonly error: VendorError | null;
    readonly estimatedOutput: number;
    readonly images?: number;
  };
  stream(call: ChatCall): StreamTap;
}

/** Counting the tokens of a request, in both directions. */
export interface TokenCount {
  /** client in */
  readCall(body: JsonObject, head: CallHead): ChatCall;
  /** client out; `tokens` the vendor's count, or an estimate */
  encodeReply(tokens: number): JsonObject;
  /** vendor out */
  encodeRequest(request: ChatRequest, vendorModel: string): JsonObject;
  /** vendor in; null where the body holds no count */
  decodeReply(body: JsonValue): number | null;
}

export interface ChatProtocol {
  readonly kind: 'chat';
  readonly name: string;
  readonly summary: string;
  /** Validates what the gateway itself relies on; unknown fields are the vendor's business. Throws GatewayError. */
  readCall(body: JsonObject, head: CallHead): ChatCall;
  readonly relay: ChatRelay;
  /** client in; the engine lays the call's `model` and `stream` over what the body says */
  decodeRequest(body: JsonObject): ChatRequest;
  /** vendor out; `mostOutput` the model's own bound on output tokens, null or absent: unknown */
  encodeRequest(request: ChatRequest, vendorModel: string, mostOutput?: number | null): JsonObject;
  /** vendor in, whole */
  decodeReply(body: JsonValue): ChatEvent[];
  /** vendor in, streamed (stateful) */
  decodeStream(): (frame: SseFrame) => ChatEvent[];
  /** Whether nothing that follows this frame counts; absent: only `[DONE]` or the end of the connection tells. */
  isLastFrame?(frame: SseFrame): boolean;
  /** client out, whole */
  encodeReply(events: readonly ChatEvent[], call: ChatCall): JsonObject;
  /** client out, streamed (stateful) */
  encodeStream(call: ChatCall): StreamEncoder;
  /** Content type of a streamed answer; absent: Server-Sent Events. */
  streamContentType?(call: ChatCall): string;
  /** `head` is that of the request, for where its errors depend on how it was asked. */
  encodeError(error: GatewayError, requestId: string, head?: CallHead): JsonValue;
  /** Counting tokens without an answer (`chat.count`); absent where this protocol has no such thing. */
  readonly count?: TokenCount;
  /** Images asked for on a chat route; absent where this protocol cannot show them. */
  readonly images?: ChatImages<ChatCall>;
  /** Conversations that are kept between requests; absent where this protocol has no such thing. */
  readonly state?: ChatState;
  /** Headers of the client, lower-case, that a vendor of this protocol gets as they came. */
  readonly passedHeaders?: readonly string[];
  /** Whether a vendor gets this stop sequence; what it does not get the gateway applies itself. Absent: every one. */
  readonly takesStop?: (sequence: string, index: number) => boolean;
  /** What a vendor takes as the name of a tool: others are written anew on the way there and back. Absent: any. */
  readonly toolNames?: ToolNameRule;
  /** A second name for `x-request-id` in answers. */
  readonly requestIdHeader?: string;
  /** What it can and cannot carry: rows of docs/protocols.md. */
  readonly features?: FeatureTable;
  /** An error body of a vendor that speaks this protocol; null when it is none. */
  decodeError(body: JsonValue): VendorError | null;
}
