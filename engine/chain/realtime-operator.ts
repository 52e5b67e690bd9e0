/** Realtime routes: head → model → hooks → a vendor's socket with its first event → the client's upgrade → session. */
import type { Model } from '../contract/model.ts';
import type { RealtimeProtocol } from '../contract/realtime.ts';
import { noUsage, type Usage } from '../contract/usage.ts';
import type { Log } from '../contract/values.ts';
import { GatewayError } from '../errors.ts';
import type { VendorSocket } from '../upstream/socket.ts';
import { Attempts, type Try } from './attempts.ts';
import type { Ending } from './ending.ts';
import type { LiveExchange } from './exchange.ts';
import { proceed, whenReady } from './flow.ts';
import type { Operator } from './operator.ts';
import { RealtimeConnect } from './realtime-connect.ts';
import { Parts } from './realtime-parts.ts';
import { RealtimeSession, type RealtimeSettings } from './realtime-session.ts';
import type { Sessions } from './realtime-sessions.ts';
import { resolveOffer } from './resolve.ts';

export interface RealtimeParts {
  readonly ending: Ending;
  readonly log: Log;
  readonly sessions: Sessions;
  /** Asked for when a session begins. */
  settings(): RealtimeSettings;
}

/** Tokens to hold for where nothing bounds an answer; no vendor's answer is longer. */
const assumedTokens = 4096;

/** The next answer: as much heard as said, all of it as sound, which costs most. */
function boundOf({ maxOutputTokens }: Model): Usage {
  const output = maxOutputTokens ?? assumedTokens;
  return { ...noUsage, input: assumedTokens, audioInput: assumedTokens, output, audioOutput: output };
}

export function realtimeOperator(protocol: RealtimeProtocol, parts: RealtimeParts): Operator {
  const client = protocol.client!;
  const vendor = protocol.vendor!;
  const { ending, log } = parts;
  const connect = (exchange: LiveExchange) => {
    const attempts = new Attempts(exchange, exchange.offer!, exchange.route.failover, log);
    const open = (tried: Try, socket: VendorSocket, first: Buffer) => {
      const session = new RealtimeSession({
        exchange,
        protocol: client,
        settings: parts.settings(),
        attempts,
        tried,
        vendor: socket,
        meter: vendor.meter(),
        parts: new Parts(exchange, ending.observer, log),
        ending,
        sessions: parts.sessions,
      });
      socket.receiver = session;
      const subprotocol = client.chooseSubprotocol(exchange.headers);
      exchange.reply.upgrade((native) => {
        session.begin(exchange.upgrade!.accept(native, subprotocol, session), first);
      });
    };
    new RealtimeConnect(exchange, vendor, attempts, ending, open).start();
  };
  const accept = (exchange: LiveExchange) => {
    const model = client.readModel(exchange);
    const offer = resolveOffer(exchange, model);
    exchange.offer = offer;
    exchange.call = { kind: 'realtime', model, stream: true, bound: boundOf(offer.model) };
    proceed(exchange, ending, connect);
  };
  return {
    begin(exchange, _native, ready) {
      if (exchange.upgrade === null) throw new GatewayError('upgrade_required');
      whenReady(exchange, ready, null, ending, accept);
    },
  };
}
