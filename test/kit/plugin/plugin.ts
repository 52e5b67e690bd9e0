/** One instance of a plugin, with requests led past its hooks in the engine's order. */
import {
  type ChatEvent,
  type DeliveredImage,
  type Exchange,
  type ImageResult,
  type JsonObject,
  type LocalReply,
  noUsage,
  type Outcome,
  type PluginDefinition,
} from '../../../engine/plugin.ts';
import { createExchange, type ExchangeGiven, type TestExchange } from './exchange.ts';
import { createHost, type TestHost } from './host.ts';
import { asRefusal, type Refusal } from './refusal.ts';
import { checkedOptions } from './schema.ts';

export interface PassedRequest {
  readonly exchange: TestExchange;
  /** What the plugin refused with; null where it let the request pass. */
  readonly refusal: Refusal | null;
  /** The answer it gave instead of a vendor; null where it gave none. */
  readonly reply: LocalReply | null;
}

export interface TestPlugin {
  readonly host: TestHost;
  /** `onHead` and `onRequest`: the request is then on its way, until `settle`. */
  start(given?: ExchangeGiven): Promise<PassedRequest>;
  /** `onSettled`; default: all went well and nothing was used. */
  settle(exchange: Exchange, outcome?: Partial<Outcome>): Promise<void>;
  /** A whole request: `start`, then `settle`, as an error where it was refused. */
  request(given?: ExchangeGiven, outcome?: Partial<Outcome>): Promise<PassedRequest>;
  /** What `onEvent` leaves of the events of an answer. */
  events(exchange: Exchange, events: readonly ChatEvent[]): ChatEvent[];
  images(exchange: Exchange, result: ImageResult): Promise<readonly DeliveredImage[]>;
  close(): Promise<void>;
}

export interface PluginGiven {
  /** As in routes.yaml: checked against the plugin's schema, defaults filled in. */
  readonly options?: JsonObject;
  readonly host?: TestHost;
}

const wentWell: Outcome = { kind: 'ok', status: 200, code: null, usage: noUsage };

/** Starts a plugin; throws Error where its schema or the options are wrong. */
export async function openPlugin(definition: PluginDefinition, given: PluginGiven = {}): Promise<TestPlugin> {
  const host = given.host ?? createHost();
  const hooks = await definition.create(checkedOptions(definition.name, definition.options, given.options ?? {}), host);
  // Who was refused at the head is not settled: the engine owes it nothing yet.
  const owed = new WeakSet<Exchange>();

  const start = async (asked: ExchangeGiven = {}): Promise<PassedRequest> => {
    const exchange = createExchange(asked);
    try {
      await hooks.onHead?.(exchange);
      owed.add(exchange);
      const reply = (await hooks.onRequest?.(exchange)) ?? null;
      return { exchange, refusal: null, reply };
    } catch (thrown) {
      return { exchange, refusal: asRefusal(thrown), reply: null };
    }
  };

  const settle = async (exchange: Exchange, outcome: Partial<Outcome> = {}): Promise<void> => {
    if (owed.delete(exchange)) await hooks.onSettled?.(exchange, { ...wentWell, ...outcome });
  };

  return {
    host,
    start,
    settle,
    async request(asked, outcome) {
      const passed = await start(asked);
      const { exchange, refusal } = passed;
      await settle(
        exchange,
        refusal === null ? outcome : { kind: 'error', status: refusal.status, code: refusal.code },
      );
      return passed;
    },
    events: (exchange, events) =>
      events.flatMap((event) => {
        const kept = hooks.onEvent === undefined ? event : hooks.onEvent(exchange, event);
        return kept === null ? [] : [kept];
      }),
    images(exchange, result) {
      if (hooks.onImages === undefined) throw new Error(`${definition.name} has no hook onImages`);
      return hooks.onImages(exchange, result, new AbortController().signal);
    },
    async close() {
      await hooks.close?.();
    },
  };
}
