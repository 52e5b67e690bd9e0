/**
 * The contract of routes that are one question and one answer: embeddings, rerank, moderations, audio. What exists in
 * several wire formats has a neutral request and result, so that N client and M vendor formats cost N + M; equal formats
 * on both sides take the relay, where bytes pass as they came.
 */
import type { GatewayError } from '../errors.ts';
import type { StreamTap } from './chat.ts';
import type { Operation } from './operations.ts';
import type { Usage } from './usage.ts';
import type { JsonObject, JsonValue } from './values.ts';
import type { VendorError } from './wire.ts';

/** Counts that somebody knows; one that is left out is not known. */
export type Counts = Partial<Omit<Usage, 'source'>>;

/** A file of a form; its bytes may lie on disk. */
export interface UploadedFile {
  readonly kind: 'file';
  readonly name: string;
  readonly fileName: string;
  readonly mediaType: string;
  readonly length: number;
  /** The first bytes, enough for the head of any sound file. */
  readonly head: Buffer;
  /** From the first byte on, at each call anew. */
  read(): AsyncIterable<Buffer>;
}

export interface UploadedField {
  readonly kind: 'field';
  readonly name: string;
  readonly value: string;
}

/** A multipart body in the order in which it came. */
export interface UploadedForm {
  readonly parts: readonly (UploadedField | UploadedFile)[];
  /** Tells two forms apart: fields and checksums of files. */
  readonly fingerprint: readonly string[];
}

export interface DirectCall {
  readonly kind: 'direct';
  readonly operation: Operation;
  readonly model: string;
  /** The client asked for events. */
  readonly stream: boolean;
  /** What it is expected to use: held before it runs, and billed for what the vendor does not tell. */
  readonly bound: Usage;
  /** What the request itself tells exactly (characters to speak). */
  readonly known: Counts;
  /** The parsed body; of a form the first text field of each name. */
  readonly body: JsonObject;
  readonly form: UploadedForm | null;
}

/** Texts or lists of tokens to turn into vectors. */
export interface EmbeddingsRequest {
  readonly inputs: readonly (string | readonly number[])[];
  readonly dimensions: number | null;
}

/** A vector for each input, in their order. */
export interface EmbeddingsResult {
  readonly vectors: readonly (readonly number[])[];
}

export interface RerankRequest {
  readonly query: string;
  readonly documents: readonly string[];
  readonly topN: number | null;
  readonly maxTokensPerDocument: number | null;
  /** Fields without a neutral place: vendors refuse those they do not know. */
  readonly extra: JsonObject;
}

export interface RerankResult {
  readonly id: string | null;
  /** Best first; `index` counts the documents of the request. */
  readonly ranking: readonly { readonly index: number; readonly score: number }[];
}

export interface DirectClient<Request, Result> {
  /** How its body comes. */
  readonly accepts: 'json' | 'form';
  /** Validates what the gateway itself relies on; throws GatewayError. */
  readCall(body: JsonObject, form: UploadedForm | null): DirectCall;
  /** client in; absent where a vendor of the same protocol is needed */
  decodeRequest?(call: DirectCall): Request;
  /** client out; `counts`: what the vendor told, else what the gateway estimates */
  encodeReply?(result: Result, call: DirectCall, counts: Counts): JsonObject;
  encodeError(error: GatewayError, requestId: string): JsonObject;
}

export interface DirectVendor<Request, Result> {
  /** vendor out; throws GatewayError `unsupported_parameter` for what it cannot express */
  encodeRequest(request: Request, vendorModel: string): JsonObject;
  /** vendor in; throws GatewayError `upstream_invalid_response` for a 200 that is no answer to the request */
  decodeReply(body: JsonValue, request: Request): { readonly result: Result; readonly counts: Counts };
  decodeError(body: JsonValue): VendorError | null;
}

/** How the body of an answer is read: to its end first, event by event, or as it comes. */
export type AnswerShape = 'whole' | 'events' | 'bytes';

export interface DirectReply {
  /** What the client gets; the vendor's own Buffer where nothing had to change. */
  readonly body: Buffer;
  /** Absent: application/json. */
  readonly contentType?: string;
  /** As the vendor told. */
  readonly counts: Counts;
  /** Better estimates than the call's, from what was answered. */
  readonly estimated?: Counts;
  /** An error that a 200 hides. */
  readonly error: VendorError | null;
}

/** A stream of events, relayed. */
export interface DirectTap {
  readonly tap: StreamTap;
  /** As the vendor told so far. */
  counts(): Counts;
  estimated(): Counts;
}

/** Same protocol on both sides: the request goes out as it came but for the model's name. */
export interface DirectRelay {
  /** By content type and first bytes, none of an empty body; null: this is no answer of the protocol. */
  shape(call: DirectCall, contentType: string, first: Buffer): AnswerShape | null;
  /** Throws where the body cannot be read. */
  reply(body: Buffer, call: DirectCall, contentType: string): DirectReply;
  events?(call: DirectCall): DirectTap;
  /** What the client is told about bytes for which the vendor said `contentType`. */
  bytesType?(call: DirectCall, contentType: string): string;
  decodeError(body: JsonValue): VendorError | null;
}

export interface DirectProtocol<Request = unknown, Result = unknown> {
  readonly kind: 'direct';
  readonly name: string;
  readonly summary: string;
  readonly operation: Operation;
  /** The client side; absent where no client speaks it. */
  readonly client?: DirectClient<Request, Result>;
  /** The vendor side; absent where it is relayed only, or no vendor speaks it. */
  readonly vendor?: DirectVendor<Request, Result>;
  readonly relay?: DirectRelay;
}
