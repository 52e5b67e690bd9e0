/**
 * One HTTP/1 answer (RFC 9112) out of bytes that come in any pieces. It calls nobody: each push says what it brought, at
 * most a head and one piece of the body, then perhaps the end or a fault.
 */
import { noHeaders, type RawHeaders } from '../headers.ts';
import { ChunkedReader } from './chunked-reader.ts';
import { HeadReader } from './head-reader.ts';

type Phase = 'head' | 'length' | 'chunked' | 'close' | 'ended';

export class AnswerParser {
  /** What the last push brought. */
  headCame = false;
  body: Buffer | null = null;
  /** Why this is no answer; what came before it was handed on. */
  fault: string | null = null;
  status = 0;
  headers: RawHeaders = noHeaders;
  /** Whether the bytes behind this answer can be the next one's. */
  reusable = true;
  /** Seconds that the vendor keeps an idle connection; −1 where it did not say. */
  keepAlive = -1;
  private phase: Phase = 'ended';
  private left = 0;
  private readonly head = new HeadReader();
  private readonly chunks = new ChunkedReader(this.head);

  /** The next bytes are an answer. */
  begin(): void {
    this.fault = null;
    this.status = 0;
    this.headers = noHeaders;
    this.reusable = true;
    this.keepAlive = -1;
    this.phase = 'head';
    this.head.begin();
  }

  get ended(): boolean {
    return this.phase === 'ended';
  }

  /** Bytes of the body that are still to come; 0 where it is not known. */
  get remaining(): number {
    return this.phase === 'length' ? this.left : 0;
  }

  push(bytes: Buffer): void {
    this.headCame = false;
    this.body = null;
    let at = 0;
    while (this.phase === 'head' && at < bytes.length) {
      at = this.head.push(bytes, at);
      if (at < 0) {
        this.fault = this.head.fault;
        return;
      }
      this.headEnded();
      if (this.fault !== null) return;
    }
    if (this.phase !== 'head') at = this.readBody(bytes, at);
    // Nobody asked for what is behind the end.
    if (this.phase === 'ended' && at < bytes.length) this.reusable = false;
  }

  /** Whoever needed the fields has read them: nothing of the first bytes is kept while a stream goes on. */
  forgetHead(): void {
    this.headers = noHeaders;
    this.head.forget();
  }

  /** The connection ended. */
  finish(): void {
    this.headCame = false;
    this.body = null;
    if (this.phase === 'close') this.phase = 'ended';
    else this.fault = 'the vendor closed the connection';
    this.reusable = false;
  }

  private headEnded(): void {
    const { head } = this;
    const { status } = head;
    if (status < 200) {
      // 100 Continue and 103 Early Hints are not the answer.
      if (status === 101) this.fault = 'the vendor changed the protocol';
      else head.next(true);
      return;
    }
    this.fault = this.framingFault();
    if (this.fault !== null) return;
    this.headCame = true;
    this.status = status;
    this.headers = head.lines;
    this.keepAlive = head.keepAlive;
    this.reusable = !head.closes;
    this.startBody();
  }

  private framingFault(): string | null {
    const { chunked, contentLength, isOld } = this.head;
    if (!chunked) return null;
    if (contentLength >= 0) return 'Content-Length and Transfer-Encoding';
    return isOld ? 'Transfer-Encoding in HTTP/1.0' : null;
  }

  private startBody(): void {
    const { chunked, contentLength, status } = this.head;
    if (status === 204 || status === 304) {
      // Some send what they announce all the same.
      if (chunked || (status === 204 && contentLength > 0)) this.reusable = false;
      this.phase = 'ended';
    } else if (chunked) {
      this.phase = 'chunked';
      this.chunks.begin();
    } else if (contentLength >= 0) {
      this.left = contentLength;
      this.phase = contentLength === 0 ? 'ended' : 'length';
    } else {
      this.reusable = false;
      this.phase = 'close';
    }
  }

  private readBody(bytes: Buffer, at: number): number {
    if (at === bytes.length) return at;
    if (this.phase === 'chunked') return this.readChunks(bytes, at);
    if (this.phase === 'ended') return at;
    const end = this.phase === 'length' ? Math.min(bytes.length, at + this.left) : bytes.length;
    this.body = at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end);
    if (this.phase === 'close') return end;
    this.left -= end - at;
    if (this.left === 0) this.phase = 'ended';
    return end;
  }

  private readChunks(bytes: Buffer, at: number): number {
    const { chunks } = this;
    const end = chunks.push(bytes, at);
    this.body = chunks.data;
    this.fault = chunks.fault;
    if (chunks.ended) this.phase = 'ended';
    return end;
  }
}
