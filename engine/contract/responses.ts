/** Conversations that are kept between requests, so that a later one names the answer before it by an id. */
import type { JsonObject } from './values.ts';

/** What a request says of kept state. */
export interface StateAsked {
  /** The answer that it continues. */
  readonly previous: string | null;
  /** Whether its own answer is to be kept; null: not said, which means yes. */
  readonly store: boolean | null;
  /** Ids of kept items in the place of the items themselves. */
  readonly references: readonly string[];
  /** Contents that only the vendor account that made them can read. */
  readonly sealed: readonly string[];
}

/** What a protocol with kept conversations knows of them. */
export interface ChatState {
  read(body: JsonObject): StateAsked;
  /** The input as items, each with an id. */
  itemsOf(body: JsonObject): JsonObject[];
  /** The input with kept items before it, and others in the place of their references. */
  expand(body: JsonObject, before: readonly JsonObject[], found: ReadonlyMap<string, JsonObject>): JsonObject[];
  /** The answer as it is kept, from the body of a whole one or the last frames of a stream; null where there is none. */
  answerOf(bytes: Buffer, streamed: boolean): JsonObject | null;
  /** Items of an answer. */
  outputOf(answer: JsonObject): readonly JsonObject[];
  /** What only the account that made an item can read; null: anybody can. */
  sealedIn(item: JsonObject): string | null;
}

/** The vendor account that knows an answer: the channel, and a hash of the credential. */
export interface StatePlace {
  readonly channel: string;
  readonly credential: string;
}

/** An answer that was kept. */
export interface StoredResponse {
  readonly id: string;
  readonly userId: number;
  /** Where the vendor keeps it; null: the gateway does. */
  readonly place: StatePlace | null;
  /** False where only its marks count: the client wanted nothing kept. */
  readonly named: boolean;
  /** The kept answer before it. */
  readonly previous: string | null;
  /** Items; empty where the vendor keeps them. */
  readonly input: readonly JsonObject[];
  /** Null where the vendor keeps it. */
  readonly response: JsonObject | null;
}

/** A kept answer without its texts. */
export interface MarkedResponse extends Pick<StoredResponse, 'id' | 'userId' | 'place' | 'named'> {
  /** About so many bytes are its texts. */
  readonly size: number;
}

/** Kept answers, for a configured time. Those that have expired are not found. */
export interface Responses {
  /** ms for which an answer is kept; 0: nothing is. */
  readonly keep: number;
  find(id: string): Promise<StoredResponse | null>;
  /** The answers in which marks were seen, by mark. */
  findMarks(marks: readonly string[]): Promise<ReadonlyMap<string, MarkedResponse>>;
  /**
   * Resolves when it is in the database. `marks` are ids of items and hashes of what only their maker can read; the
   * answers that it continues, `before`, are kept as long as it is. Rejects where the database cannot be written.
   */
  put(stored: StoredResponse, marks: readonly string[], before: readonly string[]): Promise<void>;
  delete(id: string): Promise<void>;
}
