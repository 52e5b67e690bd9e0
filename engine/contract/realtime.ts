/** The contract of realtime sessions: one socket to the client, one to the vendor, events both ways. */
import type { GatewayError } from '../errors.ts';
import type { CallHead } from './chat.ts';
import type { OutcomeKind, Usage } from './usage.ts';
import type { JsonObject, JsonValue } from './values.ts';
import type { VendorError } from './wire.ts';

export interface RealtimeCall {
  readonly kind: 'realtime';
  readonly model: string;
  readonly stream: true;
  /** What is held for the next answer of the session. */
  readonly bound: Usage;
}

/** What is charged by itself within a session: an answer, or a transcript of what the client said. */
export interface SessionPart {
  readonly kind: Exclude<OutcomeKind, 'accepted'>;
  /** The vendor's code where the part failed, else null. */
  readonly code: string | null;
  readonly usage: Usage;
}

/** A part with its place in its session. */
export interface NumberedPart extends SessionPart {
  /** From 1: with the request id it names the usage row, `req_….1`. */
  readonly number: number;
  /** ms */
  readonly duration: number;
}

/** Reads along one session, as much as billing needs. Frames are text of any size and hostile. */
export interface SessionMeter {
  /** A frame of the client, on its way to the vendor. */
  sent(frame: Buffer): void;
  /** A frame of the vendor; what is to be charged before the client gets it, or null. */
  received(frame: Buffer): SessionPart | null;
  /** Answers that have begun and not ended. */
  readonly running: number;
  /** What went out since the last part and the vendor will not report any more, as an estimate; null: nothing. */
  unreported(): Usage | null;
}

export interface RealtimeProtocol {
  readonly kind: 'realtime';
  readonly name: string;
  readonly summary: string;
  /** The client side; absent where no client speaks it. */
  readonly client?: {
    /** Reads path and query; throws GatewayError. */
    readModel(head: CallHead): string;
    /** Headers of the handshake that the protocol reads, lower-case. */
    readonly headers: readonly string[];
    /** Which of the offered subprotocols is answered; '': none. A credential among them is never repeated. */
    chooseSubprotocol(headers: Readonly<Record<string, string>>): string;
    /** A refusal before the upgrade. */
    encodeError(error: GatewayError, requestId: string): JsonObject;
    /** An error within the session, as one text frame. */
    encodeErrorEvent(error: GatewayError, requestId: string): string;
  };
  /** The vendor side; absent where no vendor speaks it. Frames pass unchanged between equal protocols. */
  readonly vendor?: {
    /** Headers of the vendor's handshake beside the channel's own, from those of the client's. */
    headersFor(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>>;
    /** A handshake that was answered with an error body, or an error as the first event; null when it is none. */
    decodeError(body: JsonValue): VendorError | null;
    meter(): SessionMeter;
  };
}
