/** One request on its way through the compiled chain, up to the place where a vendor would be called. */
import type { CompiledRoute } from '../../chain/compiled-route.ts';
import { LiveExchange } from '../../chain/exchange.ts';
import { runHead, runRequest } from '../../chain/hooks.ts';
import type { Snapshot } from '../../chain/snapshot.ts';
import type { GatewayError } from '../../errors.ts';
import { toGatewayError } from '../../errors.ts';
import { type NativeResponse, Reply } from '../../http/reply.ts';
import type { Protocol } from '../../plugin.ts';
import { type Asked, readCall } from './read-call.ts';

/** Well-formed, and nobody's: the stand-in ledger knows one key for every secret. */
const placeholder = `Bearer sk-${'0'.repeat(48)}`;

export interface Question extends Asked {
  readonly snapshot: Snapshot;
  readonly compiled: CompiledRoute;
  readonly protocol: Protocol;
  readonly model: string;
}

export interface Walk {
  readonly exchange: LiveExchange;
  /** What the client would be told instead of being served; null where the chain lets it pass. */
  readonly refusal: GatewayError | null;
}

/** Nothing is ever written to it. */
const deaf = { onAborted() {} } as unknown as NativeResponse;

function createExchange({ snapshot, compiled, body, model }: Question): LiveExchange {
  const headers = Object.fromEntries(compiled.headerNames.map((name) => [name, '']));
  headers.authorization = placeholder;
  headers['content-type'] = 'application/json';
  const { path, method } = compiled.route;
  // Some protocols name the model in the path, those without a body in the query.
  const named = path.includes('*') ? model : '';
  const query = method === 'GET' ? `model=${encodeURIComponent(model)}` : '';
  const reply = new Reply(deaf, 'explain');
  const asked = path.replace('*', () => named);
  const exchange = new LiveExchange(reply, snapshot, compiled, method.toLowerCase(), asked, named, query, headers);
  if (method !== 'GET') exchange.body = Buffer.from(JSON.stringify(body));
  return exchange;
}

/** Runs the hooks that serve requests. What they refuse is part of the answer; nothing is thrown for it. */
export async function walk(question: Question): Promise<Walk> {
  const exchange = createExchange(question);
  try {
    await runHead(exchange.compiled.onHead, exchange);
    readCall(exchange, question.protocol, question);
    await runRequest(exchange.compiled.onRequest, exchange);
    return { exchange, refusal: null };
  } catch (error) {
    return { exchange, refusal: toGatewayError(error) };
  }
}
