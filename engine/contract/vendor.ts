/** A vendor is data: how to authenticate, which protocols it speaks under which paths, how to read its failures. */

/** Why an attempt failed; with the HTTP statuses (`429`, `503`, …) the keys of the failover table. */
export type FailureReason =
  /** No connection: nothing was sent. */
  | 'connect'
  /** The connection broke after the request was sent. */
  | 'reset'
  /** No answer in time after the request was sent. */
  | 'timeout'
  /** 200 with nothing in it, or a body that cannot be parsed. */
  | 'malformed'
  /** The vendor refuses our account: bad credential, no credit, account blocked. */
  | 'credential'
  /** The vendor refused the content: the client's own doing. */
  | 'moderation'
  /** The vendor answered well but without an image, and not for safety. */
  | 'no-image'
  /** Any other error status. */
  | 'status';

/** Turns a vendor's failure into a reason. All conditions of a rule must hold; the first rule that matches wins. */
export interface FailureRule {
  readonly status?: number | readonly number[];
  /** Equals the vendor's code, type or status word. */
  readonly code?: string | readonly string[];
  /** Matches the vendor's message. Vendors quote their clients in it: a rule about the account anchors its beginning. */
  readonly text?: RegExp;
  readonly reason: FailureReason;
  /** The HTTP status that the vendor should have answered, where its own says something else about the channel. */
  readonly as?: number;
  /** The account lacks only what this request asked for: the next channel is tried, and this one goes on serving others. */
  readonly spares?: true;
}

export interface VendorDefinition {
  readonly name: string;
  readonly summary: string;
  /** Used when the channel names none. */
  readonly baseUrl: string;
  /** `{credential}` stands for the secret. */
  readonly auth: { readonly header: string; readonly value: string };
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * protocol → action → path below the base URL; `{model}` stands for the vendor's model name, `{id}`
   * for the vendor's id of a task. Chat protocols have the
   * actions `whole`, `stream` and where there is such a thing `count` and `stored`, image protocols `generate` and
   * `edit`, direct ones `call`, those of videos `create`, `poll` and `content`, realtime ones `connect`. The order is the
   * order of preference.
   */
  readonly speaks: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly failures?: readonly FailureRule[];
}
