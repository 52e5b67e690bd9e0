import type { Call } from '../contract.ts';
import type { Conversation } from './conversation.ts';
import type { Outbox } from './outbox.ts';
import type { Settings } from './settings.ts';

/** A response that is being made; what of it was sent so far is billed when it is cancelled. */
export interface ActiveResponse {
  readonly id: string;
  /** Ends it early: the events that are left to say. */
  cancel(): void;
}

/** What one socket remembers. */
export interface Session {
  readonly call: Call;
  readonly outbox: Outbox;
  readonly conversation: Conversation;
  settings: Settings;
  /** Bytes of sound that were appended and not committed. */
  buffered: number;
  active: ActiveResponse | undefined;
}
