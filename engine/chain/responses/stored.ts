/** Kept responses by their id: read, their input listed, deleted. A vendor that keeps them itself is asked. */
import type { ChatProtocol } from '../../contract/chat.ts';
import type { Responses, StatePlace, StoredResponse } from '../../contract/responses.ts';
import { GatewayError } from '../../errors.ts';
import type { LocalReply } from '../../plugin.ts';
import { Answer } from '../../upstream/answer.ts';
import { unsupported } from '../../wire/openai/fields.ts';
import { asFailure, refusalOf } from '../attempt-failure.ts';
import type { Ending } from '../ending.ts';
import type { LiveExchange } from '../exchange.ts';
import { whenReady } from '../flow.ts';
import type { Operator } from '../operator.ts';
import type { Target } from '../target.ts';
import { pageOf } from './page.ts';
import { pinTo } from './place.ts';
import { previousNotFound } from './state.ts';

export type StoredAction = 'get' | 'items' | 'delete';

const largestAnswer = 64 * 1024 * 1024;

export function storedOperator(
  action: StoredAction,
  protocol: ChatProtocol,
  store: Responses,
  ending: Ending,
): Operator {
  const answer = async (exchange: LiveExchange): Promise<LocalReply> => {
    const stored = await owned(exchange, store);
    if (stored.place !== null) return forwarded(action, exchange, protocol, store, stored, stored.place);
    if (action === 'delete') return deleted(store, stored.id);
    if (action === 'items') return { status: 200, body: JSON.stringify(pageOf(stored.input, exchange.query)) };
    return { status: 200, body: JSON.stringify(stored.response) };
  };
  const accept = (exchange: LiveExchange): void => {
    if (new URLSearchParams(exchange.query).get('stream') === 'true')
      throw unsupported('stream', 'is not supported here: only background responses are streamed again.');
    answer(exchange).then(
      (local) => ending.sendLocal(exchange, local),
      (error: unknown) => ending.fail(exchange, asFailure(error)?.error ?? error),
    );
  };
  return {
    begin(exchange, _native, ready) {
      whenReady(exchange, ready, null, ending, accept);
    },
  };
}

/** Another user's is not found either. */
async function owned({ parameter, principal }: LiveExchange, store: Responses): Promise<StoredResponse> {
  const id = parameter.slice(0, 200);
  const stored = await store.find(id);
  if (stored === null || !stored.named || stored.userId !== principal!.key.userId) throw previousNotFound(id, null);
  return stored;
}

async function deleted(store: Responses, id: string): Promise<LocalReply> {
  await store.delete(id);
  return { status: 200, body: JSON.stringify({ id, object: 'response', deleted: true }) };
}

async function forwarded(
  action: StoredAction,
  exchange: LiveExchange,
  { decodeError }: ChatProtocol,
  store: Responses,
  { id }: StoredResponse,
  place: StatePlace,
): Promise<LocalReply> {
  const { target, credential } = reach(exchange, place);
  const { timeouts, vendor } = target.channel;
  const sent = Answer.send(target.connections, {
    method: action === 'delete' ? 'DELETE' : 'GET',
    path: `${target.paths.stored}/${encodeURIComponent(id)}${action === 'items' ? '/input_items' : ''}${queryOf(exchange)}`,
    headers: target.headers[credential]!,
    body: null,
    firstByteTimeout: timeouts.firstByte,
    idleTimeout: timeouts.idle,
  });
  exchange.onAbort(() => sent.abort());
  const { status } = await sent.head;
  if (status < 300) {
    const body = await sent.read(largestAnswer);
    if (action === 'delete') await store.delete(id);
    return { status: 200, body };
  }
  const refusal = await refusalOf(sent, vendor, decodeError);
  if (status !== 404) throw refusal.error;
  // The vendor has given it up before the gateway did.
  await store.delete(id);
  if (action === 'delete') return deleted(store, id);
  throw previousNotFound(id, null);
}

/** The account that keeps it, on whichever model. */
function reach({ compiled }: LiveExchange, place: StatePlace): { target: Target; credential: number } {
  for (const target of compiled.targets.values()) {
    const pin = pinTo([target.channel], place);
    if (pin !== null) return { target, credential: pin.credential };
  }
  throw new GatewayError('no_channel_available', 'The vendor account that keeps this response is not in use any more.');
}

/** What the vendor may be asked; the query may also hold the client's key. */
const asked: ReadonlySet<string> = new Set(['include', 'include[]', 'limit', 'order', 'after', 'before']);

function queryOf({ query }: LiveExchange): string {
  const kept = [...new URLSearchParams(query)].filter(([name]) => asked.has(name));
  return kept.length === 0 ? '' : `?${new URLSearchParams(kept).toString()}`;
}
