/** One request on its way through the compiled chain, up to the place where a vendor would be called. */
import type { CompiledRoute } from '../../chain/compiled-route.ts';
import { LiveExchange } from '../../chain/exchange.ts';
import { runHead, runRequest } from '../../chain/hooks.ts';
import { resolveOffer } from '../../chain/resolve.ts';
import type { Snapshot } from '../../chain/snapshot.ts';
import type { ChatProtocol } from '../../contract/chat.ts';
import type { DirectProtocol } from '../../contract/direct.ts';
import type { ImageBody, ImageProtocol } from '../../contract/image.ts';
import type { JsonObject } from '../../contract/values.ts';
import type { VideoProtocol } from '../../contract/video.ts';
import type { GatewayError } from '../../errors.ts';
import { toGatewayError } from '../../errors.ts';
import { type NativeResponse, Reply } from '../../http/reply.ts';
import type { Registry } from '../../plugin.ts';
import { uploadForm } from './asked.ts';

/** Well-formed, and nobody's: the stand-in ledger knows one key for every secret. */
const placeholder = `Bearer sk-${'0'.repeat(48)}`;

export interface Question {
  readonly snapshot: Snapshot;
  readonly registry: Registry;
  readonly compiled: CompiledRoute;
  readonly body: JsonObject;
  /** What an edit sends in place of the JSON body. */
  readonly form: ImageBody | null;
}

export interface Walk {
  readonly exchange: LiveExchange;
  /** What the client would be told instead of being served; null where the chain lets it pass. */
  readonly refusal: GatewayError | null;
}

/** Nothing is ever written to it. */
const deaf = { onAborted() {} } as unknown as NativeResponse;

function createExchange({ snapshot, compiled, body }: Question): LiveExchange {
  const headers = Object.fromEntries(compiled.headerNames.map((name) => [name, '']));
  headers.authorization = placeholder;
  headers['content-type'] = 'application/json';
  const { path } = compiled.route;
  // Some protocols name the model in the path.
  const named = path.includes('*') ? String(body.model) : '';
  const asked = path.replace('*', () => named);
  const exchange = new LiveExchange(new Reply(deaf, 'explain'), snapshot, compiled, 'post', asked, named, '', headers);
  exchange.body = Buffer.from(JSON.stringify(body));
  return exchange;
}

function readCall(exchange: LiveExchange, { registry, compiled, body, form }: Question): void {
  const { route } = compiled;
  const protocol = registry.protocols.find(({ name }) => name === route.protocol) as
    | ChatProtocol
    | ImageProtocol
    | DirectProtocol
    | VideoProtocol;
  if (protocol.kind === 'chat') exchange.call = protocol.readCall(body, exchange);
  else if (protocol.kind === 'video') exchange.call = protocol.client!.readCall({ kind: 'json', value: body });
  else if (protocol.kind === 'direct') {
    const { accepts, readCall } = protocol.client!;
    exchange.call = readCall(body, accepts === 'form' ? uploadForm(body) : null);
  } else {
    const operation = route.operation === 'images.edit' ? 'edit' : 'generate';
    exchange.call = protocol.client!.readCall(operation, form ?? { kind: 'json', value: body });
  }
}

/** Runs the hooks that serve requests. What they refuse is part of the answer; nothing is thrown for it. */
export async function walk(question: Question): Promise<Walk> {
  const exchange = createExchange(question);
  try {
    await runHead(exchange.compiled.onHead, exchange);
    readCall(exchange, question);
    exchange.offer = resolveOffer(exchange, exchange.call!.model);
    await runRequest(exchange.compiled.onRequest, exchange);
    return { exchange, refusal: null };
  } catch (error) {
    return { exchange, refusal: toGatewayError(error) };
  }
}
