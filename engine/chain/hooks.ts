/** Running hooks one after another: without a promise while none of them needs one. */
import type { Exchange } from '../contract/exchange.ts';
import type { LocalReply } from '../plugin.ts';
import type { HeadHook, RequestHook } from './compiled-route.ts';
import type { LiveExchange } from './exchange.ts';

export function runHead(hooks: readonly HeadHook[], exchange: Exchange, from = 0): Promise<void> | undefined {
  for (let index = from; index < hooks.length; index++) {
    const pending = hooks[index]!(exchange);
    if (pending !== undefined) return pending.then(() => runHead(hooks, exchange, index + 1));
  }
  return undefined;
}

/** The first LocalReply ends the chain. */
export function runRequest(
  hooks: readonly RequestHook[],
  exchange: LiveExchange,
  from = 0,
): LocalReply | undefined | Promise<LocalReply | undefined> {
  for (let index = from; index < hooks.length; index++) {
    const answer = hooks[index]!(exchange);
    if (answer === undefined) continue;
    if (!(answer instanceof Promise)) return answer;
    // An exchange that ended meanwhile must take no further holds.
    return answer.then((local) => local ?? (exchange.settled ? undefined : runRequest(hooks, exchange, index + 1)));
  }
  return undefined;
}
