/** Realtime routes: head → model → hooks → a vendor's socket with its first event → the client's upgrade → session. */
import type { RealtimeProtocol } from '../../contract/realtime.ts';
import type { Log } from '../../contract/values.ts';
import { GatewayError } from '../../errors.ts';
import type { VendorSocket } from '../../upstream/socket.ts';
import { Attempts, type Try } from '../attempts.ts';
import type { Ending } from '../ending.ts';
import type { LiveExchange } from '../exchange.ts';
import { proceed, whenReady } from '../flow.ts';
import type { Operator } from '../operator.ts';
import { resolveOffer } from '../resolve.ts';
import { RealtimeConnect } from './connect.ts';
import { Parts } from './parts.ts';
import { realtimeCall } from './request.ts';
import { RealtimeSession, type RealtimeSettings } from './session.ts';
import type { Sessions } from './sessions.ts';

export interface RealtimeParts {
  readonly ending: Ending;
  readonly log: Log;
  readonly sessions: Sessions;
  /** Asked for when a session begins. */
  settings(): RealtimeSettings;
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
    exchange.offer = resolveOffer(exchange, client.readModel(exchange));
    exchange.call = realtimeCall(exchange.offer.model);
    proceed(exchange, ending, connect);
  };
  return {
    begin(exchange, _native, ready) {
      if (exchange.upgrade === null) throw new GatewayError('upgrade_required');
      whenReady(exchange, ready, null, ending, accept);
    },
  };
}
