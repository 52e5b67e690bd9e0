/** Routes that the gateway answers itself, without a body and without a vendor. */
import type { Exchange } from '../contract/exchange.ts';
import type { LocalReply } from '../plugin.ts';
import type { Ending } from './ending.ts';
import { whenReady } from './flow.ts';
import type { Operator } from './operator.ts';

export function localOperator(answer: (exchange: Exchange) => LocalReply, ending: Ending): Operator {
  return {
    begin(exchange, _native, ready) {
      whenReady(exchange, ready, null, ending, () => ending.sendLocal(exchange, answer(exchange)));
    },
  };
}
