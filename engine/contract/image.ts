/** The contract of image protocols: one neutral request and result, one codec per wire format, both directions. */
import type { GatewayError } from '../errors.ts';
import type { TokenUsage } from './usage.ts';
import type { JsonObject, JsonValue } from './values.ts';
import type { ParameterOverrides, SseFrame, VendorError } from './wire.ts';

export interface ImageFile {
  readonly bytes: Buffer;
  readonly mediaType: string;
  readonly name: string;
}

/** What the client asked for, as it wrote it (spec 2.1, 2.2); null: not said. */
export interface ImageFields {
  readonly n: number | null;
  readonly size: string | null;
  readonly aspect_ratio: string | null;
  readonly resolution: string | null;
  readonly image_size: string | null;
  readonly quality: string | null;
}

/** What one field of the client implies for one setting; two claims that differ are a conflict (spec 4.2 rule 2). */
export interface Claim {
  readonly param: keyof ImageFields;
  readonly setting: 'aspectRatio' | 'resolution';
  readonly value: string;
}

/** What the vendor is told, decided by the family's normalizer; null: the vendor's default. */
export interface ImageSettings {
  n: number;
  size: string | null;
  quality: string | null;
  aspectRatio: string | null;
  resolution: string | null;
}

export interface ImageCall {
  readonly kind: 'image';
  readonly operation: 'generate' | 'edit';
  readonly model: string;
  readonly prompt: string;
  readonly fields: ImageFields;
  readonly responseFormat: 'url' | 'b64_json';
  readonly stream: boolean;
  readonly partialImages: number | null;
  readonly references: readonly ImageFile[];
  readonly mask: ImageFile | null;
  /** Fields nobody here knows: kept for a vendor of the same wire format. */
  readonly extra: JsonObject;
  /** Written by the normalizer, read by `conflicts` and the vendor's codec. */
  claims: readonly Claim[];
  settings: ImageSettings;
}

/** One image of an answer: its bytes, still in Base64 as the vendor sent them or already binary, or where they are. */
export type ImageSource =
  | { readonly kind: 'base64'; readonly base64: Buffer }
  | { readonly kind: 'url'; readonly url: string };

export interface ResultImage {
  readonly source: ImageSource;
  /** As the vendor says; checked against the bytes before it is stored. */
  readonly mediaType: string | null;
  readonly revisedPrompt: string | null;
}

export interface ImageResult {
  readonly created: number | null;
  readonly images: readonly ResultImage[];
  readonly usage: TokenUsage | null;
  /** Members of the vendor's answer worth keeping (`size`, `quality`, `background`, `output_format`). */
  readonly extra: JsonObject;
  /** Images the vendor withheld for safety while it delivered others. */
  readonly refused: number;
}

export type ImageEvent =
  | { readonly type: 'partial'; readonly base64: Buffer; readonly index: number; readonly extra: JsonObject }
  | {
      readonly type: 'completed';
      readonly image: ResultImage;
      readonly usage: TokenUsage | null;
      readonly extra: JsonObject;
    }
  | { readonly type: 'error'; readonly error: VendorError };

/** An image as it goes to the client. */
export interface DeliveredImage {
  readonly url: string | null;
  readonly base64: Buffer | null;
  readonly mediaType: string;
  readonly width: number | null;
  readonly height: number | null;
  readonly revisedPrompt: string | null;
}

/** Bytes in pieces, so that megabytes of Base64 are never joined with the JSON around them. */
export type Pieces = readonly Buffer[];

export interface UpstreamBody {
  readonly contentType: string;
  readonly pieces: Pieces;
}

/** How a streamed answer travels. */
export interface StreamForm {
  readonly contentType: string;
  /** Bytes that say nothing, written while a vendor works. */
  readonly heartbeat: string;
}

/** How the answer of an image request is written for its client. */
export interface ImageWriter {
  /** Absent: Server-Sent Events. */
  readonly stream?: StreamForm;
  encodeResult(images: readonly DeliveredImage[], result: ImageResult, call: ImageCall): Pieces;
  encodeEvent(event: ClientImageEvent, call: ImageCall): Pieces;
  readonly terminator: string;
  encodeError(error: GatewayError, requestId: string): JsonObject;
  encodeStreamError(error: GatewayError, requestId: string): string;
}

/** Images that a chat route is asked for: the last user message is the prompt, its pictures are the references. */
export interface ChatImages<Call> {
  /**
   * Where the last turn has no pictures, those of the answer before are drawn on, if the model `edits`. Throws GatewayError
   * where the conversation cannot be read as one image request.
   */
  readCall(call: Call, edits: boolean): ImageCall;
  /** A writer for one answer: it may count its events. */
  writer(call: Call): ImageWriter;
}

/** One wire format of images. The body of an answer is read by `liftAnswer`, which leaves its megabytes of Base64 alone. */
export interface ImageProtocol {
  readonly kind: 'image';
  readonly name: string;
  readonly summary: string;
  /** The client side; absent where no client speaks it. */
  readonly client?: ImageWriter & {
    readCall(operation: 'generate' | 'edit', body: ImageBody): ImageCall;
  };
  /** The vendor side; absent where no vendor speaks it. */
  readonly vendor?: {
    /** `overrides`, a channel's own parameters, are laid over a form here; over JSON the engine lays them. */
    encodeRequest(call: ImageCall, vendorModel: string, overrides?: ParameterOverrides | null): UpstreamBody;
    /** Throws GatewayError (`moderation_blocked`, `upstream_no_image`, `upstream_invalid_response`) for a 200 that is none. */
    decodeReply(body: Buffer): ImageResult;
    /** Absent: this vendor does not stream images; the gateway waits and streams itself. */
    decodeStream?(): (frame: SseFrame) => ImageEvent[];
    decodeError(body: JsonValue): VendorError | null;
  };
}

export type ClientImageEvent =
  | { readonly type: 'partial'; readonly base64: Buffer; readonly index: number; readonly extra: JsonObject }
  | {
      readonly type: 'completed';
      readonly image: DeliveredImage;
      readonly usage: TokenUsage | null;
      readonly extra: JsonObject;
    };

/** The body of an image request, already read and bounded by the engine. */
export type ImageBody =
  | { readonly kind: 'json'; readonly value: JsonObject }
  | {
      readonly kind: 'multipart';
      readonly fields: readonly (readonly [name: string, value: string])[];
      readonly files: readonly (ImageFile & { readonly field: string })[];
    };
