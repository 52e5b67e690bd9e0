/** An answer on its way to the client: events looked at one by one, or bytes that nobody reads. */
import type { Counts, DirectTap } from '../../contract/direct.ts';
import type { VendorError } from '../../contract/wire.ts';
import { TransportError } from '../../upstream/answer.ts';
import { type Failure, malformed } from '../../upstream/failure.ts';
import { eventStream } from '../../wire/sse.ts';
import { plainError } from '../../wire/vendor-error.ts';
import { AttemptFailed } from '../attempt-failure.ts';
import type { LiveExchange } from '../exchange.ts';

/** What a delivery has learnt so far. */
export interface Progress {
  counts(): Counts;
  estimated(): Counts;
}

/** The run that a delivery belongs to. */
export interface Delivering {
  readonly exchange: LiveExchange;
  /** Set when the vendor's answer is one: what it costs is owed from here on. */
  progress: Progress | null;
  /** The answer is one: status and head are decided, and the channel serves again. */
  begin(contentType: string, headers: readonly string[]): void;
  /** Hands bytes to the client and waits where it does not keep up. */
  write(bytes: Buffer): Promise<void>;
  /** All came; the end of the body waits until the charge is in the journal. */
  complete(closing: Buffer): void;
  reported(error: VendorError, status: number): Failure;
}

const eventHeaders = ['cache-control', 'no-cache', 'x-accel-buffering', 'no'];
/** Comments before the first event are kept back up to here. */
const largestPreface = 64 * 1024;
const nothing = Buffer.alloc(0);
const endedEarly = plainError('The vendor’s stream ended early.');
const noCounts = (): Counts => ({});

/** The end of the body is what waits for the journal: sound is handed on without any delay. */
export async function relayBytes(
  run: Delivering,
  contentType: string,
  first: Buffer,
  chunks: AsyncIterator<Buffer>,
): Promise<void> {
  run.progress = { counts: noCounts, estimated: noCounts };
  run.begin(contentType, []);
  await run.write(first);
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) await run.write(next.value);
  run.complete(nothing);
}

/** Throws before the first event reached the client: then another channel may be tried. */
export async function relayEvents(
  run: Delivering,
  events: DirectTap,
  first: Buffer,
  chunks: AsyncIterator<Buffer>,
): Promise<void> {
  const { tap } = events;
  let preface: Buffer[] = [];
  let begun = false;
  const begin = (): void => {
    if (begun) return;
    begun = true;
    run.progress = events;
    run.exchange.encodeStreamError = (error, requestId) => tap.encodeError(error, requestId);
    run.begin(eventStream, eventHeaders);
  };
  const hand = async (bytes: Buffer | null): Promise<void> => {
    if (tap.error !== null && !begun) throw new AttemptFailed(run.reported(tap.error, 200));
    if (bytes !== null) preface.push(bytes);
    const length = preface.reduce((sum, piece) => sum + piece.length, 0);
    if (length > 0 && (tap.begun || length > largestPreface)) {
      begin();
      const out = preface.length === 1 ? preface[0]! : Buffer.concat(preface);
      preface = [];
      await run.write(out);
    }
    if (tap.error !== null) throw new AttemptFailed(run.reported(tap.error, 502));
  };
  for (let chunk: Buffer | null = first; chunk !== null && !tap.finished; chunk = await following(chunks, tap))
    await hand(readable(() => tap.push(chunk)));
  await hand(readable(() => tap.flush()));
  if (!tap.complete)
    throw new AttemptFailed(begun ? run.reported(endedEarly, 502) : malformed('the stream ended before an answer'));
  begin();
  run.complete(tap.closing());
}

/** The next chunk; null at the end. A connection that breaks behind the last event has lost nothing. */
async function following(chunks: AsyncIterator<Buffer>, tap: DirectTap['tap']): Promise<Buffer | null> {
  if (tap.finished) return null;
  try {
    const next = await chunks.next();
    return next.done ? null : next.value;
  } catch (error) {
    if (tap.complete && error instanceof TransportError) return null;
    throw error;
  }
}

/** A tap that throws has met something that is no stream of its protocol. */
function readable(read: () => Buffer | null): Buffer | null {
  try {
    return read();
  } catch (error) {
    throw new AttemptFailed(malformed(error instanceof Error ? error.message : String(error)));
  }
}
