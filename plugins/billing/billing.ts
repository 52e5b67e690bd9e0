import { performance } from 'node:perf_hooks';
import {
  askedTokens,
  definePlugin,
  type Exchange,
  GatewayError,
  type KeyRecord,
  type NumberedPart,
  noUsage,
  type Offer,
  type Outcome,
  plainTokens,
  toGatewayError,
  type Usage,
  type UsageRow,
  usageOf,
} from '../../engine/plugin.ts';

/** No answer has more tokens than this: whatever a client writes, the amount stays a whole number. */
const mostTokens = 1_000_000_000;

/** What a request will cost at the most, as far as can be told before it runs. */
function estimate(exchange: Exchange, assumedOutputTokens: number): Usage {
  const call = exchange.call!;
  if (call.kind === 'image') return { ...noUsage, images: call.settings.n };
  if (call.kind !== 'chat') return call.bound;
  const bound = call.maxOutputTokens ?? exchange.offer!.model.maxOutputTokens ?? assumedOutputTokens;
  const output = Math.min(bound * call.choices, mostTokens);
  return usageOf(plainTokens(askedTokens(exchange.body.length, call.body), output), 0, 'estimated');
}

/** A whole answer goes out right behind its row. */
function firstByteOf(exchange: Exchange, outcome: Outcome, durationMs: number): number | null {
  if (exchange.firstByteAt > 0) return Math.round(exchange.firstByteAt - exchange.startedMono);
  return outcome.kind === 'aborted' ? null : durationMs;
}

function rowOf(exchange: Exchange, offer: Offer, outcome: Outcome, quota: number, now: number): UsageRow {
  const { key, group } = exchange.principal!;
  const { usage } = outcome;
  const durationMs = Math.round(now - exchange.startedMono);
  return {
    requestId: exchange.id,
    time: exchange.startedAt,
    userId: key.userId,
    keyId: key.id,
    endpoint: exchange.route.path,
    model: offer.model.name,
    group: group.name,
    multiplier: group.multiplier,
    channel: exchange.attempts.at(-1)?.channel ?? null,
    attempts: exchange.attempts.length,
    images: usage.images,
    inputTokens: usage.input,
    cachedInputTokens: usage.cachedInput,
    cacheWriteTokens: usage.cacheWrite,
    outputTokens: usage.output,
    reasoningTokens: usage.reasoning,
    quota,
    status: outcome.status,
    outcome: outcome.kind,
    code: outcome.code,
    usageSource: usage.source,
    durationMs,
    firstByteMs: firstByteOf(exchange, outcome, durationMs),
    seconds: usage.seconds,
    characters: usage.characters,
    searchUnits: usage.searchUnits,
    audioInputTokens: usage.audioInput,
    audioOutputTokens: usage.audioOutput,
  };
}

/** A part of a session has a row of its own, named after the session's. */
function partRowOf(exchange: Exchange, part: NumberedPart, quota: number, now: number): UsageRow {
  const outcome: Outcome = { ...part, status: 101 };
  const row = rowOf(exchange, exchange.offer!, outcome, quota, 0);
  return {
    ...row,
    requestId: `${exchange.id}.${part.number}`,
    time: now,
    durationMs: part.duration,
    firstByteMs: null,
  };
}

/** The same code for both, but other words: topping up helps only where the balance is what is missing. */
function notCovered(key: KeyRecord, amount: number): GatewayError {
  if (key.quotaLeft === null || key.account.available < amount) return new GatewayError('insufficient_quota');
  return new GatewayError(
    'insufficient_quota',
    'The quota of this key does not cover this request. Raise it, or use another key.',
  );
}

export default definePlugin({
  name: 'billing',
  summary: 'Holds quota before the first attempt, settles what was used before the last byte (spec 8).',
  options: {
    type: 'object',
    additionalProperties: false,
    properties: {
      assumedOutputTokens: {
        type: 'integer',
        minimum: 1,
        default: 4096,
        description: 'Output tokens to hold for when neither the request nor the model bounds them.',
      },
    },
  },
  requires: ['auth', 'normalize'],
  create({ assumedOutputTokens }, host) {
    /** A vendor may report more tokens than can be counted: then what was held is what is owed. */
    const quotaOf = (exchange: Exchange, offer: Offer, outcome: Outcome): number => {
      try {
        return offer.rate.quota(outcome.usage);
      } catch (error) {
        host.log.error({ err: error, requestId: exchange.id, usage: outcome.usage }, 'the usage cannot be priced');
        return exchange.hold?.amount ?? 0;
      }
    };
    /** What cannot be counted is more than anybody has. */
    const amountOf = (exchange: Exchange): number => {
      try {
        return exchange.offer!.rate.quota(estimate(exchange, assumedOutputTokens));
      } catch (error) {
        if (error instanceof RangeError) return Number.MAX_SAFE_INTEGER;
        throw error;
      }
    };
    const hold = (exchange: Exchange): void => {
      const { key } = exchange.principal!;
      const amount = amountOf(exchange);
      exchange.hold = host.ledger.hold(key, amount);
      if (exchange.hold === null) throw notCovered(key, amount);
    };
    /** The error instead of the hold. */
    const holdAgain = (exchange: Exchange): GatewayError | null => {
      try {
        hold(exchange);
        return null;
      } catch (error) {
        return toGatewayError(error);
      }
    };
    return {
      onRequest(exchange) {
        hold(exchange);
        return undefined;
      },
      /** What was held for this answer is held for the next, in the same turn: nobody else comes between. */
      async onPart(exchange, part) {
        const quota = quotaOf(exchange, exchange.offer!, { ...part, status: 101 });
        const booked = host.ledger.settle(exchange.hold, partRowOf(exchange, part, quota, host.now()));
        exchange.hold = null;
        const refusal = holdAgain(exchange);
        await booked;
        if (refusal !== null) throw refusal;
      },
      onSettled(exchange, outcome) {
        const { offer } = exchange;
        // No model, no charge and nothing to log: bad bodies and unknown names must not fill the usage log.
        if (offer === null) return undefined;
        // The work goes on, and with it the hold: whoever ends the task settles it.
        if (outcome.kind === 'accepted') return undefined;
        const { hold } = exchange;
        const row = rowOf(exchange, offer, outcome, quotaOf(exchange, offer, outcome), performance.now());
        // Where it rejects, the client gets that error: it must not take the answer for a paid one.
        return host.ledger.settle(hold, row);
      },
    };
  },
});
