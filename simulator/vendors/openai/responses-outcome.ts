import type { Call } from '../../contract.ts';
import type { Steering } from '../../steering.ts';
import type { ModelFacts } from './models.ts';
import type { Item } from './responses-items.ts';
import type { ResponsesRequest } from './responses-request.ts';

/** What is asked: the request, the conversation it continues, and how its last user message steers. */
export interface Question {
  readonly call: Call;
  readonly request: ResponsesRequest;
  readonly model: ModelFacts;
  readonly conversation: readonly Item[];
  readonly prompt: string;
  readonly steering: Steering;
}

/** An output item and the pieces in which a stream sends it: text, summary, arguments, or partial pictures as slots. */
export interface Produced {
  readonly item: Item;
  readonly pieces: readonly string[];
}

export interface Outcome {
  readonly produced: readonly Produced[];
  /** Why it is incomplete, if it is. */
  readonly incomplete: 'max_output_tokens' | 'content_filter' | undefined;
  /** Stand in for the image slots of items and pieces. */
  readonly images: readonly Buffer[];
  readonly outputTokens: number;
}
