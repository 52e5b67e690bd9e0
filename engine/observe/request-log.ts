/** One line of the log per ended request, where gateway.yaml asks for it (`log.requests`). */
import type { LiveExchange } from '../chain/exchange.ts';
import type { Outcome } from '../contract/usage.ts';
import type { Log } from '../contract/values.ts';

export function logRequest(log: Log, exchange: LiveExchange, outcome: Outcome): void {
  log.info(
    {
      requestId: exchange.id,
      method: exchange.method.toUpperCase(),
      path: exchange.path,
      status: outcome.status,
      outcome: outcome.kind,
      code: outcome.code,
      model: exchange.offer?.model.name ?? null,
      channel: exchange.attempts.at(-1)?.channel ?? null,
      attempts: exchange.attempts.length,
      user: exchange.principal?.key.userId ?? null,
      milliseconds: Math.round(performance.now() - exchange.startedMono),
    },
    'request',
  );
}
