/** What all protocols have in common on the wire. */
import type { JsonObject } from './values.ts';

/** One frame of Server-Sent Events. */
export interface SseFrame {
  readonly event: string | null;
  readonly data: string;
}

/** An error a vendor reported, in neutral words; the vendor's failure rules turn it into a reason. */
export interface VendorError {
  readonly message: string;
  readonly code: string | null;
  readonly type: string | null;
  readonly param: string | null;
  /** Seconds, where the body says so (Gemini's RetryInfo); the header is read by the engine. */
  readonly retryAfter: number | null;
}

/** A channel's own laws over the body. */
export interface ParameterOverrides {
  readonly set: JsonObject;
  readonly remove: readonly string[];
}

/** What a vendor takes as the name of a tool. */
export interface ToolNameRule {
  /** ASCII letters, digits and `_` must be among what it allows. */
  readonly pattern: RegExp;
  /** Characters. */
  readonly longest: number;
}
