/**
 * What the vendor of a session says, on its way to the client: unchanged and in order, each answer charged before its
 * last event goes out. While one is being charged, and while the client is slow, the vendor waits.
 */
import type { SessionMeter, SessionPart } from '../../contract/realtime.ts';
import type { GatewayError } from '../../errors.ts';
import type { VendorSocket } from '../../upstream/socket.ts';
import { isUnpaid, type Parts } from './parts.ts';

export interface FramesMaterial {
  readonly vendor: VendorSocket;
  readonly meter: SessionMeter;
  readonly parts: Parts;
}

export interface FramesListener {
  /** False: the client is slow, until `drained`. */
  send(frame: Buffer): boolean;
  /** A part could not be charged, or nothing is left for the next one. */
  refused(error: GatewayError): void;
  /** A part was charged, and nothing waits any more. */
  caughtUp(): void;
}

export class VendorFrames {
  private readonly material: FramesMaterial;
  private readonly listener: FramesListener;
  /** Frames that came while a part is being charged; null while none is. */
  private waiting: Buffer[] | null = null;
  private slow = false;
  /** The vendor had to wait for the client at some time: how it takes that says nothing about its channel. */
  heldBack = false;
  private over = false;

  constructor(material: FramesMaterial, listener: FramesListener) {
    this.material = material;
    this.listener = listener;
  }

  get charging(): boolean {
    return this.waiting !== null;
  }

  /** Nothing is read from the vendor now. */
  get paused(): boolean {
    return this.slow || this.charging;
  }

  add(frame: Buffer): void {
    if (this.waiting === null) this.take(frame);
    else this.waiting.push(frame);
  }

  /** The client has taken what waited for it. */
  drained(): void {
    this.slow = false;
    this.flow();
  }

  /** What still waits is not handed on. */
  stop(): void {
    this.over = true;
  }

  private take(frame: Buffer): void {
    const part = this.material.meter.received(frame);
    if (part === null) this.forward(frame);
    else this.charge(part, frame);
  }

  private charge(part: SessionPart, frame: Buffer): void {
    this.waiting = [];
    this.flow();
    void this.material.parts.charge(part).then((refusal) => this.charged(refusal, frame));
  }

  private charged(refusal: GatewayError | null, frame: Buffer): void {
    const waiting = this.waiting ?? [];
    this.waiting = null;
    if (this.over) return;
    if (!isUnpaid(refusal)) this.forward(frame);
    if (refusal !== null) return this.listener.refused(refusal);
    while (waiting.length > 0 && this.waiting === null && !this.over) this.take(waiting.shift()!);
    // Another part began: what is left waits for it.
    if (this.waiting !== null) (this.waiting as Buffer[]).push(...waiting);
    else if (!this.over) this.listener.caughtUp();
    if (!this.over) this.flow();
  }

  private forward(frame: Buffer): void {
    if (this.listener.send(frame)) return;
    this.slow = this.heldBack = true;
    this.flow();
  }

  private flow(): void {
    if (this.paused) this.material.vendor.pause();
    else this.material.vendor.resume();
  }
}
