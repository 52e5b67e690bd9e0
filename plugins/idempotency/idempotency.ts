import { createHash } from 'node:crypto';
import {
  definePlugin,
  type Exchange,
  GatewayError,
  type LocalReply,
  type ReplayAnswer,
  type ReplayState,
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

  /** Null where the answer was too large to keep. */
  get answer(): ReplayAnswer | null {
    if (this.length > this.maximum) return null;
    return { status: this.status, contentType: this.contentType, body: Buffer.concat(this.chunks) };
  }
}

/** One request that owns its scope, and those that wait for its answer. */
interface Running {
  readonly scope: string;
  readonly bodyHash: string;
  readonly recording: Recording;
  readonly ended: Promise<ReplayAnswer | null>;
  readonly end: (answer: ReplayAnswer | null) => void;
}

function startRunning(scope: string, bodyHash: string, maximum: number): Running {
  let end!: (answer: ReplayAnswer | null) => void;
  const ended = new Promise<ReplayAnswer | null>((resolve) => {
    end = resolve;
  });
  return { scope, bodyHash, recording: new Recording(maximum), ended, end };
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
    // Shared by all requests of this snapshot: whoever comes second joins the first.
    const running = new Map<string, Running>();
    const owned = host.slot<Running>();

    const own = (exchange: Exchange, scope: string, bodyHash: string): void => {
      const run = startRunning(scope, bodyHash, maximumBytes);
      running.set(scope, run);
      owned.set(exchange, run);
      exchange.capture = run.recording;
    };

    const join = async (exchange: Exchange, first: Running, bodyHash: string): Promise<LocalReply | undefined> => {
      if (first.bodyHash !== bodyHash) throw conflict();
      const answer = await first.ended;
      // The first request failed or its answer was too large: this one runs by itself.
      return answer === null ? enter(exchange, first.scope, bodyHash) : replayed(answer);
    };

    const enter = async (exchange: Exchange, scope: string, bodyHash: string): Promise<LocalReply | undefined> => {
      const first = running.get(scope);
      if (first !== undefined) return join(exchange, first, bodyHash);
      const state: ReplayState = await host.replays.begin(scope, bodyHash);
      if (state.state === 'done') return replayed(state);
      if (state.state === 'conflict') throw conflict();
      if (state.state === 'running') {
        const other = running.get(scope);
        if (other !== undefined) return join(exchange, other, bodyHash);
        throw new GatewayError(
          'idempotency_conflict',
          'A request with this Idempotency-Key is still running. Try again when it has ended.',
          { retryAfter: 1 },
        );
      }
      own(exchange, scope, bodyHash);
      return undefined;
    };

    return {
      onRequest(exchange) {
        const key = requireKey(exchange);
        if (key === null) return undefined;
        const scope = sha256([String(exchange.principal!.key.id), exchange.route.path, key]);
        return enter(exchange, scope, sha256(exchange.fingerprint()));
      },
      async onSettled(exchange, outcome) {
        const run = owned.get(exchange);
        if (run === undefined) return;
        const answer = outcome.kind === 'ok' ? run.recording.answer : null;
        try {
          if (answer === null) await host.replays.abandon(run.scope);
          else await host.replays.finish(run.scope, answer);
        } finally {
          running.delete(run.scope);
          run.end(answer);
        }
      },
    };
  },
});
