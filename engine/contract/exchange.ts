/** Everything about one request: one object of one shape, made by the engine and passed to every stage. */
import type { ChatCall } from './chat.ts';
import type { DirectCall } from './direct.ts';
import type { ImageCall } from './image.ts';
import type { Group, Offer, Route } from './model.ts';
import type { Hold, KeyRecord } from './ports.ts';
import type { RealtimeCall } from './realtime.ts';
import type { FailureReason } from './vendor.ts';
import type { VideoCall } from './video.ts';

/** What the engine knows of a request, whatever it asks for. */
export type Call = ChatCall | ImageCall | DirectCall | VideoCall | RealtimeCall;

export interface Attempt {
  readonly channel: string;
  readonly vendorModel: string;
  /** HTTP status of the vendor; 0 where none came. */
  status: number;
  reason: FailureReason | null;
  readonly startedAt: number;
}

/** Sees a whole reply as the client does (idempotent replays). */
export interface ReplyCapture {
  head(status: number, contentType: string): void;
  data(chunk: Buffer): void;
  /** That was all of it: what is not ended was broken off. */
  end(): void;
}

/** Who asks. */
export interface Principal {
  readonly key: KeyRecord;
  readonly group: Group;
}

export interface Exchange {
  /** The request id: answered as `x-request-id`, unique, the key of the usage row. */
  readonly id: string;
  readonly route: Route;
  readonly method: string;
  readonly path: string;
  /** Lower-case names; only the headers that some plugin of the chain or its protocol asked for, and `content-type`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Value of the route's `:name` or `*` part; '' where it has none. */
  readonly parameter: string;
  /** Without the question mark; ''. It may hold a key: it goes into no log. */
  readonly query: string;
  /** ms since 1970 and monotonic ms. */
  readonly startedAt: number;
  readonly startedMono: number;
  principal: Principal | null;
  /** The body as it came; empty before it was read and on GET. */
  body: Buffer;
  call: Call | null;
  offer: Offer | null;
  readonly attempts: Attempt[];
  /** Monotonic ms of the first byte of the reply; 0 before. */
  firstByteAt: number;
  /** The client has gone. */
  readonly aborted: boolean;
  /** What makes two requests the same one: the body's bytes, or a form's fields and files. */
  fingerprint(): readonly (string | Buffer)[];
  /** Called once when the client goes; at once when it has gone already. */
  onAbort(listener: () => void): void;
  /** What billing has set aside; the one who ends the work settles it. */
  hold: Hold | null;
  /** Set by a plugin in `onRequest`: it then sees every byte of the reply, the last one before `onSettled`. */
  capture: ReplyCapture | null;
  /** Origin of the channel that answered or is being tried; '' before the first attempt. */
  readonly channelOrigin: string;
  /** Private room of the plugins, see `Host.slot`. */
  readonly slots: unknown[];
}
