import { createHash } from 'node:crypto';
import {
  definePlugin,
  type Exchange,
  GatewayError,
  type LocalReply,
  type ReplayAnswer,
  type ReplayState,
  type Replays,
  type ReplyCapture,
} from '../../engine/plugin.ts';

const longestKey = 255;

/** Collects the first answer, up to a bound. */
class Recording implements ReplyCapture {
  private readonly maximum: number;
  private readonly chunks: Buffer[] = [];
  private status = 0;
  private contentType = '';
  private length = 0;
  private complete = false;

  constructor(maximum: number) {
    this.maximum = maximum;
  }

  head(status: number, contentType: string): void {
    this.status = status;
    this.contentType = contentType;
  }

  data(chunk: Buffer): void {
    this.length += chunk.length;
    if (this.length <= this.maximum) this.chunks.push(Buffer.from(chunk));
    else this.chunks.length = 0;
  }

  end(): void {
    this.complete = true;
  }

  /** Null where the answer broke off or was too large to keep. */
  get answer(): ReplayAnswer | null {
    if (!this.complete || this.length > this.maximum) return null;
    return { status: this.status, contentType: this.contentType, body: Buffer.concat(this.chunks) };
  }
}

/** One request that owns its scope, and those that wait for its answer. */
interface Running {
  readonly scope: string;
  readonly bodyHash: string;
  readonly recording: Recording;
  /** What the store said of the scope; only `new` makes this request the owner. */
  readonly found: Promise<ReplayState>;
  readonly ended: Promise<ReplayAnswer | null>;
  readonly end: (answer: ReplayAnswer | null) => void;
}

/** A request with an Idempotency-Key. */
interface Place {
  run: Running | null;
  settled: boolean;
}

/** Whoever comes second joins the first, also over a reload: by the store, which outlives every snapshot. */
const runningIn = new WeakMap<Replays, Map<string, Running>>();

function runningOf(replays: Replays): Map<string, Running> {
  const known = runningIn.get(replays);
  if (known !== undefined) return known;
  const made = new Map<string, Running>();
  runningIn.set(replays, made);
  return made;
}

function startRunning(scope: string, bodyHash: string, maximum: number, found: Promise<ReplayState>): Running {
  let end!: (answer: ReplayAnswer | null) => void;
  const ended = new Promise<ReplayAnswer | null>((resolve) => {
    end = resolve;
  });
  return { scope, bodyHash, recording: new Recording(maximum), found, ended, end };
}

function requireKey(exchange: Exchange): string | null {
  const key = exchange.headers['idempotency-key'];
  if (!key) return null;
  if (key.length > longestKey)
    throw new GatewayError('invalid_value', `Idempotency-Key is longer than ${longestKey} characters.`, {
      param: 'Idempotency-Key',
    });
  return key;
}

const conflict = () => new GatewayError('idempotency_conflict');

const stillRunning = () =>
  new GatewayError(
    'idempotency_conflict',
    'A request with this Idempotency-Key is still running. Try again when it has ended.',
    { retryAfter: 1 },
  );

type Answered = Promise<LocalReply | undefined>;

function replayed(answer: ReplayAnswer): LocalReply {
  return {
    status: answer.status,
    headers: { 'content-type': answer.contentType, 'idempotent-replayed': 'true' },
    body: answer.body,
  };
}

const sha256 = (parts: readonly (string | Buffer)[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(String(part.length)).update('\0').update(part);
  return hash.digest('base64url');
};

export default definePlugin({
  name: 'idempotency',
  summary: 'The same Idempotency-Key and body within 24 hours gets the first answer and is charged once.',
  options: {
    type: 'object',
    additionalProperties: false,
    properties: {
      maximumBytes: {
        type: 'integer',
        minimum: 0,
        default: 64 * 1024 * 1024,
        description: 'Answers larger than this are not kept; a repeated request then runs again.',
      },
    },
  },
  headers: ['idempotency-key'],
  requires: ['auth'],
  create({ maximumBytes }, host) {
    const running = runningOf(host.replays);
    const places = host.slot<Place>();

    const end = (run: Running, answer: ReplayAnswer | null): void => {
      running.delete(run.scope);
      run.end(answer);
    };

    const join = async (exchange: Exchange, place: Place, first: Running, bodyHash: string): Answered => {
      if (first.bodyHash !== bodyHash) throw conflict();
      const answer = await first.ended;
      // The first request failed or its answer was too large: this one runs by itself.
      return answer === null ? enter(exchange, place, first.scope, bodyHash) : replayed(answer);
    };

    const enter = async (exchange: Exchange, place: Place, scope: string, bodyHash: string): Answered => {
      // Who has left or waited too long must not own anything.
      if (place.settled) return undefined;
      const first = running.get(scope);
      if (first !== undefined) return join(exchange, place, first, bodyHash);
      const found = Promise.resolve(host.replays.begin(scope, bodyHash));
      const run = startRunning(scope, bodyHash, maximumBytes, found);
      running.set(scope, run);
      place.run = run;
      const before = await known(run);
      if (before.state === 'done') return replayed(before);
      if (before.state === 'conflict') throw conflict();
      if (before.state === 'running') throw stillRunning();
      exchange.capture = run.recording;
      return undefined;
    };

    /** Where the request is not the owner, those who wait for it look for themselves. */
    const known = async (run: Running): Promise<ReplayState> => {
      try {
        const found = await run.found;
        if (found.state !== 'new') end(run, null);
        return found;
      } catch (error) {
        end(run, null);
        throw error;
      }
    };

    const keep = async (run: Running, answer: ReplayAnswer | null): Promise<void> => {
      try {
        if (answer === null) await host.replays.abandon(run.scope);
        else await host.replays.finish(run.scope, answer);
      } finally {
        end(run, answer);
      }
    };

    return {
      onRequest(exchange) {
        const key = requireKey(exchange);
        if (key === null) return undefined;
        const place: Place = { run: null, settled: false };
        places.set(exchange, place);
        const { path, query, principal } = exchange;
        // Where the path names the model, another model is another request; a query chooses the form of the answer.
        const scope = sha256([String(principal!.key.id), path, key]);
        return enter(exchange, place, scope, sha256([query, ...exchange.fingerprint()]));
      },
      onSettled(exchange, outcome) {
        const place = places.get(exchange);
        if (place === undefined) return undefined;
        place.settled = true;
        const { run } = place;
        if (run === null) return undefined;
        const answer = outcome.kind === 'error' ? null : run.recording.answer;
        return run.found.then(
          ({ state }) => (state === 'new' ? keep(run, answer) : undefined),
          () => {
            // `enter` has told the client.
          },
        );
      },
    };
  },
});
