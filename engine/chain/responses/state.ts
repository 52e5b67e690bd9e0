/**
 * Requests that go on from an answer that was kept, and answers that are kept for such requests. Where the vendor keeps
 * an answer itself, its account alone can go on from it; what the gateway keeps, any vendor can go on from.
 */
import { createHash } from 'node:crypto';
import type { ChatCall, ChatProtocol } from '../../contract/chat.ts';
import type { Channel } from '../../contract/model.ts';
import type {
  ChatState,
  MarkedResponse,
  Responses,
  StateAsked,
  StatePlace,
  StoredResponse,
} from '../../contract/responses.ts';
import type { JsonObject, Log } from '../../contract/values.ts';
import { GatewayError } from '../../errors.ts';
import { unsupported } from '../../wire/openai/fields.ts';
import { overridden } from '../../wire/overrides.ts';
import type { LiveExchange } from '../exchange.ts';
import type { Target } from '../target.ts';
import { pinTo, placeOf } from './place.ts';

/** Answers that one conversation goes back, and bytes of them: more than any model reads. */
const deepest = 2000;
const largest = 64 * 1024 * 1024;

/** Items of one answer, or of one request, that are found by their ids. */
const mostMarks = 1000;
const longestName = 200;

const isName = (id: unknown): id is string => typeof id === 'string' && id.length <= longestName;

/** What the request finds of earlier ones. */
interface Found {
  /** Where the vendor keeps what it goes on from. */
  readonly place: StatePlace | null;
  /** The account may be another; it can just not read everything. */
  readonly mayMove: boolean;
  /** Kept answers it goes on from, oldest first. */
  readonly before: readonly StoredResponse[];
  readonly items: ReadonlyMap<string, JsonObject>;
}

const nothing: Found = { place: null, mayMove: true, before: [], items: new Map() };

export const previousNotFound = (id: string, param: string | null): GatewayError =>
  new GatewayError('object_not_found', `The response \`${id.slice(0, 100)}\` is not kept, or no longer.`, {
    param,
    ...(param === null ? {} : { shownCode: 'previous_response_not_found' }),
  });

/** Clients choose the ids of what they send: two of them may choose the same. */
const ownName = (userId: number, id: string): string => `${userId}:${id}`;

const sum = (numbers: Iterable<number>): number => {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
};

const markOf = (sealed: string): string => `sha256:${createHash('sha256').update(sealed).digest('base64url')}`;

export class Conversations {
  private readonly protocol: ChatProtocol;
  private readonly state: ChatState;
  private readonly store: Responses;
  private readonly log: Log;

  constructor(protocol: ChatProtocol, state: ChatState, store: Responses, log: Log) {
    this.protocol = protocol;
    this.state = state;
    this.store = store;
    this.log = log;
  }

  /** The call with everything that it goes on from; where its answer is to be kept, the exchange keeps it at its end. */
  prepare(exchange: LiveExchange, call: ChatCall): ChatCall | Promise<ChatCall> {
    const asked = this.state.read(call.body);
    if (this.store.keep === 0) return refuseKeeping(call, asked);
    const { previous, references, sealed } = asked;
    if (previous === null && references.length === 0 && sealed.length === 0) {
      this.keepAnswer(exchange, call, asked, nothing);
      return call;
    }
    return this.find(exchange, asked).then((found) => {
      this.choose(exchange, found, asked);
      const whole = this.expanded(exchange, call, found);
      this.keepAnswer(exchange, call, asked, found);
      return whole;
    });
  }

  private async find(exchange: LiveExchange, { previous, references, sealed }: StateAsked): Promise<Found> {
    const { userId } = exchange.principal!.key;
    const before = previous === null ? [] : await this.chain(previous, userId);
    if (references.length > mostMarks) throw tooMany();
    const marks = await this.store.findMarks([...references.map((id) => ownName(userId, id)), ...sealed.map(markOf)]);
    const kept = new Map<string, MarkedResponse>();
    let place = before.at(-1)?.place ?? null;
    for (const id of references) {
      const marked = marks.get(ownName(userId, id));
      if (!marked?.named) throw itemNotFound(id);
      if (marked.place === null) kept.set(id, marked);
      else place ??= marked.place;
    }
    const items = await this.itemsIn(kept, references);
    if (place !== null) return { place, mayMove: false, before, items };
    const last = sealed.map((content) => marks.get(markOf(content))).findLast((stored) => stored !== undefined);
    return { place: last?.place ?? null, mayMove: true, before, items };
  }

  /** The items of `kept`, by their ids. Each answer is read once, and only so much in all. */
  private async itemsIn(
    kept: ReadonlyMap<string, MarkedResponse>,
    references: readonly string[],
  ): Promise<ReadonlyMap<string, JsonObject>> {
    const sizes = new Map([...kept.values()].map(({ id, size }) => [id, size]));
    if (sum(sizes.values()) > largest) throw tooLarge();
    const items = new Map<string, JsonObject>();
    for (const id of sizes.keys()) {
      const stored = await this.store.find(id);
      for (const item of [...(stored?.input ?? []), ...this.state.outputOf(stored?.response ?? {})])
        if (isName(item.id) && kept.get(item.id)?.id === id && !items.has(item.id)) items.set(item.id, item);
    }
    for (const id of kept.keys()) if (!items.has(id)) throw itemNotFound(id);
    // A small answer can be named again and again.
    const lengths = new Map([...items].map(([id, item]) => [id, JSON.stringify(item).length]));
    if (sum(references.map((id) => lengths.get(id) ?? 0)) > largest) throw tooLarge();
    return items;
  }

  /** The kept answers up to the named one. Of a vendor's own the named one tells all. */
  private async chain(id: string, userId: number): Promise<StoredResponse[]> {
    const found: StoredResponse[] = [];
    for (let next: string | null = id; next !== null; ) {
      const stored: StoredResponse | null = await this.store.find(next);
      if (stored === null || stored.userId !== userId || !stored.named)
        throw previousNotFound(next, 'previous_response_id');
      found.unshift(stored);
      if (found.length > deepest) throw tooLong();
      next = stored.previous;
    }
    return found;
  }

  private choose(exchange: LiveExchange, { place, mayMove }: Found, { previous }: StateAsked): void {
    if (place === null) return;
    exchange.pin = pinTo(channelsOf(exchange, this.protocol.name), place);
    if (exchange.pin !== null || mayMove) return;
    const why = `was answered by a vendor account that keeps it and does not serve \`${exchange.call!.model}\`: use the model that answered, or send the whole conversation.`;
    throw unsupported(previous === null ? 'input' : 'previous_response_id', why);
  }

  private expanded(exchange: LiveExchange, call: ChatCall, { before, items }: Found): ChatCall {
    const kept = before.filter(({ place }) => place === null);
    if (kept.length === 0 && items.size === 0) return call;
    const earlier = kept.flatMap(({ input, response }) => [...input, ...this.state.outputOf(response ?? {})]);
    const input = this.state.expand(call.body, earlier, items);
    const remove = kept.length === 0 ? [] : ['previous_response_id'];
    exchange.body = overridden(exchange.body, { set: { input }, remove });
    if (exchange.body.length > largest) throw tooLong();
    return { ...call, body: { ...call.body, input } };
  }

  private keepAnswer(exchange: LiveExchange, call: ChatCall, asked: StateAsked, found: Found): void {
    exchange.keepAnswer = async (bytes, streamed, target, credential) => {
      try {
        const answer = this.state.answerOf(bytes, streamed);
        if (answer !== null) await this.keep(exchange, call, asked, found, answer, target, credential);
      } catch (error) {
        this.log.error({ err: error, requestId: exchange.id }, 'a response could not be kept');
      }
    };
  }

  private async keep(
    exchange: LiveExchange,
    call: ChatCall,
    { store, previous }: StateAsked,
    { before, items }: Found,
    answer: JsonObject,
    target: Target,
    credential: number,
  ): Promise<void> {
    const isNative = target.protocol === this.protocol.name;
    const output = this.state.outputOf(answer);
    const sealed = isNative ? output.flatMap((item) => this.state.sealedIn(item) ?? []).map(markOf) : [];
    const named = store !== false;
    if (!named && sealed.length === 0) return;
    const input = isNative || !named ? [] : this.state.itemsOf({ input: this.state.expand(call.body, [], items) });
    const { userId } = exchange.principal!.key;
    const ids = named ? [...output, ...input].flatMap(({ id }) => (isName(id) ? ownName(userId, id) : [])) : [];
    if (!isName(answer.id)) throw new Error('the id of the response is too long');
    const stored: StoredResponse = {
      id: answer.id,
      userId,
      place: isNative ? placeOf(target.channel, credential) : null,
      named,
      previous: isNative ? null : previous,
      input,
      response: isNative ? null : answer,
    };
    const ancestors = before.filter(({ place }) => place === null).map(({ id }) => id);
    await this.store.put(stored, [...ids, ...sealed].slice(-mostMarks), ancestors);
  }
}

function refuseKeeping(call: ChatCall, { previous, store, references }: StateAsked): ChatCall {
  const why = 'is not supported: this gateway keeps no responses. Send the whole conversation.';
  if (previous !== null) throw unsupported('previous_response_id', why);
  if (references.length > 0)
    throw unsupported('input', 'names items that are not kept: this gateway keeps no responses.');
  if (store === true) throw unsupported('store', why);
  return { ...call, body: { ...call.body, store: false } };
}

const itemNotFound = (id: string): GatewayError =>
  new GatewayError(
    'object_not_found',
    `The item \`${id.slice(0, 100)}\` is not kept, or no longer. Send the item itself.`,
    {
      param: 'input',
    },
  );

const tooMany = (): GatewayError =>
  new GatewayError('invalid_value', `\`input\` names more than ${mostMarks} items.`, { param: 'input' });

const tooLarge = (): GatewayError =>
  new GatewayError('context_length_exceeded', 'The items that `input` names are too large together.', {
    param: 'input',
  });

const tooLong = (): GatewayError =>
  new GatewayError('context_length_exceeded', 'The kept conversation is too long to be continued.', {
    param: 'previous_response_id',
  });

/** Channels that serve the asked model in the client's own protocol. */
function* channelsOf({ offer, compiled }: LiveExchange, protocol: string): Iterable<Channel> {
  for (const candidate of offer!.tiers.flat())
    if (compiled.targets.get(candidate)?.protocol === protocol) yield candidate.channel;
}
