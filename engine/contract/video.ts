/**
 * The contract of video tasks: submitted, polled, stored, fetched. One neutral request, state and view; a client side
 * and a vendor side per wire format, so that N client and M vendor protocols cost N + M.
 */
import type { GatewayError } from '../errors.ts';
import type { ImageBody, ImageFile, UpstreamBody } from './image.ts';
import type { Usage } from './usage.ts';
import type { JsonObject, JsonValue } from './values.ts';
import type { VendorError } from './wire.ts';

/** A picture to start from: bytes, or where they are. */
export type VideoReference =
  | { readonly kind: 'file'; readonly file: ImageFile }
  | { readonly kind: 'url'; readonly url: string };

/** What a client asked for, in words that no vendor owns. Null: not said. */
export interface VideoRequest {
  readonly prompt: string;
  readonly seconds: number | null;
  /** `<width>x<height>` in pixels. */
  readonly size: string | null;
  /** `<w>:<h>` */
  readonly aspectRatio: string | null;
  /** `480p`, `720p`, `1080p`, `4k` */
  readonly resolution: string | null;
  readonly negativePrompt: string | null;
  /** One is the first frame; several are what the video shows. */
  readonly references: readonly VideoReference[];
  /** Fields that only vendors of the client's own format know. */
  readonly extra: JsonObject;
  /** What the client says to whichever vendor it will be; never laid over what the gateway says. */
  readonly vendorFields: JsonObject;
}

export interface VideoCall {
  readonly kind: 'video';
  readonly model: string;
  readonly stream: false;
  /** Its settings are replaced by the normalizer. */
  request: VideoRequest;
  /** What it will cost, as far as can be told before it runs. */
  readonly bound: Usage;
}

/** Where a finished file is. */
export type VideoFile =
  /** Under the vendor's path `content`. */
  | { readonly kind: 'content' }
  /** `authorized`: the vendor wants its credential there, which no other origin than the channel's ever gets. */
  | { readonly kind: 'url'; readonly url: string; readonly authorized: boolean };

/** How far a vendor is. */
export type VideoState =
  /** Percent; null where the vendor does not say. */
  | { readonly state: 'queued' | 'in_progress'; readonly progress: number | null }
  /** `seconds`: how long the film is, where the vendor says so. */
  | { readonly state: 'completed'; readonly seconds: number | null; readonly file: VideoFile }
  | { readonly state: 'failed'; readonly code: VideoFault; readonly message: string };

/** Why a task failed, as its client reads it. */
export type VideoFault =
  | 'moderation_blocked'
  | 'video_generation_failed'
  | 'video_expired'
  | 'vendor_refused_request'
  | 'upstream_error'
  | 'upstream_timeout'
  | 'no_channel_available'
  | 'interrupted';

export type VideoStatus = 'queued' | 'in_progress' | 'completed' | 'failed';
export type VideoStorage = 'pending' | 'storing' | 'ready' | 'failed';

/** A task as its client sees it. Times are seconds since 1970. */
export interface VideoView {
  readonly id: string;
  readonly model: string;
  readonly status: VideoStatus;
  readonly progress: number;
  readonly createdAt: number;
  readonly completedAt: number | null;
  readonly prompt: string;
  readonly seconds: number;
  readonly size: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly storage: {
    readonly status: VideoStorage;
    readonly bytes: number | null;
    readonly contentType: string | null;
    /** Hexadecimal SHA-256 of the file. */
    readonly sha256: string | null;
    readonly error: string | null;
  };
  /** Signed; null until the file is stored. */
  readonly url: string | null;
  readonly urlExpiresAt: number | null;
}

export interface VideoPage {
  readonly videos: readonly VideoView[];
  readonly hasMore: boolean;
}

export interface VideoProtocol {
  readonly kind: 'video';
  readonly name: string;
  readonly summary: string;
  /** The client side; absent where no client speaks it. */
  readonly client?: {
    /** Throws GatewayError. */
    readCall(body: ImageBody): VideoCall;
    /** The answer to a submission. */
    encodeCreated(video: VideoView): JsonObject;
    encodeVideo(video: VideoView): JsonObject;
    encodePage(page: VideoPage): JsonObject;
    encodeDeleted(id: string): JsonObject;
    encodeError(error: GatewayError, requestId: string): JsonObject;
  };
  /** The vendor side; absent where no vendor speaks it. */
  readonly vendor?: {
    /** `request.seconds` is always said. Throws GatewayError `unsupported_parameter` for what cannot be carried. */
    encodeRequest(request: VideoRequest, vendorModel: string): UpstreamBody;
    /** The vendor's id of what it accepted: what stands for `{id}` in its paths. Throws `upstream_invalid_response`. */
    decodeCreated(body: JsonValue): string;
    /** `body` is null where the answer had none. Throws `upstream_invalid_response`. */
    decodeState(body: JsonValue): VideoState;
    decodeError(body: JsonValue): VendorError | null;
  };
}
