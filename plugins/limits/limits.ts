import {
  askedTokens,
  type ConcurrencyCounter,
  type Counters,
  definePlugin,
  type ErrorCode,
  type Exchange,
  GatewayError,
  type LimitSettings,
  type RateCounter,
  totalTokens,
} from '../../engine/plugin.ts';

/** The counters of one key, group or model; null where that is not limited. */
interface Gate {
  readonly what: string;
  readonly requests: RateCounter | null;
  readonly tokens: RateCounter | null;
  readonly concurrency: ConcurrencyCounter | null;
}

/** What a request took: tokens booked in advance, and the places to give back. */
interface Taken {
  readonly gates: readonly Gate[];
  readonly tokens: number;
}

function createGate(what: string, name: string, limits: LimitSettings, counters: Counters): Gate {
  return {
    what,
    requests: limits.requestsPerMinute === null ? null : counters.rate(`requests:${name}`, limits.requestsPerMinute),
    tokens: limits.tokensPerMinute === null ? null : counters.rate(`tokens:${name}`, limits.tokensPerMinute),
    concurrency: limits.concurrency === null ? null : counters.concurrency(`running:${name}`, limits.concurrency),
  };
}

const isLimited = (limits: LimitSettings | null): limits is LimitSettings =>
  limits !== null &&
  (limits.requestsPerMinute !== null || limits.tokensPerMinute !== null || limits.concurrency !== null);

function refuse(code: ErrorCode, what: string, wait: number): never {
  const sentence =
    code === 'concurrency_limit_exceeded'
      ? `Too many requests at the same time for this ${what}.`
      : `The rate limit of this ${what} is reached.`;
  throw new GatewayError(code, sentence, { retryAfter: Math.max(1, Math.ceil(wait / 1000)) });
}

/** Takes one gate's places; throws 429 when one is missing, giving back what it took of this gate. */
function enter(gate: Gate, tokens: number): void {
  if (gate.concurrency !== null && !gate.concurrency.enter()) refuse('concurrency_limit_exceeded', gate.what, 1000);
  const wait = gate.requests?.take(1) ?? 0;
  const tokenWait = wait > 0 ? 0 : (gate.tokens?.take(tokens) ?? 0);
  if (wait === 0 && tokenWait === 0) return;
  gate.concurrency?.leave();
  if (wait > 0) refuse('rate_limit_exceeded', gate.what, wait);
  gate.requests?.add(-1);
  refuse('token_limit_exceeded', gate.what, tokenWait);
}

/** Nothing was asked of a gate whose request another one refused. */
function leave(gate: Gate, tokens: number): void {
  gate.concurrency?.leave();
  gate.requests?.add(-1);
  gate.tokens?.add(-tokens);
}

function enterAll(gates: readonly Gate[], tokens: number): void {
  for (let index = 0; index < gates.length; index++) {
    try {
      enter(gates[index]!, tokens);
    } catch (error) {
      for (const entered of gates.slice(0, index)) leave(entered, tokens);
      throw error;
    }
  }
}

const inputEstimate = ({ body, call }: Exchange) => askedTokens(body.length, call?.kind === 'chat' ? call.body : {});

export default definePlugin({
  name: 'limits',
  summary: 'Requests per minute, tokens per minute and concurrency, per key, group and model.',
  options: { type: 'object', additionalProperties: false, properties: {} },
  requires: ['auth'],
  create(_options, host) {
    const taken = host.slot<Taken>();
    // Looked up by name once for each set of limits; a key that is read anew has new ones.
    const known = new WeakMap<LimitSettings, Gate>();
    const gateOf = (what: string, name: string | number, limits: LimitSettings): Gate => {
      let gate = known.get(limits);
      if (gate === undefined) {
        gate = createGate(what, `${what}:${name}`, limits, host.counters);
        known.set(limits, gate);
      }
      return gate;
    };
    const gatesOf = (exchange: Exchange): Gate[] => {
      const { key, group } = exchange.principal!;
      const { model } = exchange.offer!;
      const gates: Gate[] = [];
      if (isLimited(key.limits)) gates.push(gateOf('key', key.id, key.limits));
      if (isLimited(group.limits)) gates.push(gateOf('group', group.name, group.limits));
      if (isLimited(model.limits)) gates.push(gateOf('model', model.name, model.limits));
      return gates;
    };
    return {
      onRequest(exchange) {
        const { key, group } = exchange.principal!;
        if (!isLimited(key.limits) && !isLimited(group.limits) && !isLimited(exchange.offer!.model.limits))
          return undefined;
        const gates = gatesOf(exchange);
        const tokens = inputEstimate(exchange);
        enterAll(gates, tokens);
        taken.set(exchange, { gates, tokens });
        return undefined;
      },
      onPart(exchange, { usage }) {
        for (const gate of taken.get(exchange)?.gates ?? []) gate.tokens?.add(totalTokens(usage));
      },
      onSettled(exchange, outcome) {
        const place = taken.get(exchange);
        if (place === undefined) return;
        const rest = totalTokens(outcome.usage) - place.tokens;
        for (const gate of place.gates) {
          gate.concurrency?.leave();
          if (rest !== 0) gate.tokens?.add(rest);
        }
      },
    };
  },
});
