/** An exchange as the engine would have made it by the time the hooks run. */
import type {
  ChatCall,
  Exchange,
  Group,
  ImageBody,
  ImageCall,
  ImageFile,
  JsonObject,
  KeyRecord,
  Model,
  Offer,
  Operation,
  Rate,
  Route,
} from '../../../engine/plugin.ts';
import { builtIns } from '../../../plugins/index.ts';

export interface ExchangeGiven {
  /** The client's protocol; default `openai-chat`. */
  readonly protocol?: string;
  /** Laid over a small body that fits the protocol. */
  readonly body?: JsonObject;
  /** Reference images: makes it an edit. */
  readonly references?: readonly ImageFile[];
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly key?: Partial<KeyRecord>;
  readonly group?: Partial<Group>;
  readonly model?: Partial<Model>;
  /** Units that a request costs; default 0. */
  readonly rate?: Rate;
}

export interface TestExchange extends Exchange {
  /** The client goes away. */
  leave(): void;
}

const noLimits = { requestsPerMinute: null, tokensPerMinute: null, concurrency: null };

const keyOf = (given: Partial<KeyRecord>): KeyRecord => ({
  id: 1,
  userId: 1,
  name: 'test',
  group: 'default',
  models: null,
  disabled: false,
  expiresAt: null,
  quotaLeft: null,
  limits: noLimits,
  account: { userId: 1, disabled: false, available: 50_000_000 },
  ...given,
});

const modelOf = (operation: Operation, given: Partial<Model>): Model => ({
  name: 'test-model',
  family: { name: 'test', normalizer: 'passthrough', operations: [operation] },
  rules: {},
  price: {},
  operations: [operation],
  limits: null,
  ownedBy: 'test',
  created: 0,
  maxOutputTokens: null,
  ...given,
});

const paths: Readonly<Record<string, string>> = {
  'openai-chat': '/v1/chat/completions',
  'openai-completions': '/v1/completions',
};

const routeOf = (protocol: string, operation: Operation): Route => ({
  method: 'POST',
  path: paths[protocol] ?? (operation === 'images.edit' ? '/v1/images/edits' : '/v1/images/generations'),
  operation,
  protocol,
  chain: 'test',
  timeout: 300_000,
  bodyLimit: 1024 * 1024,
  failover: {},
  imageFailover: {},
});

function imageBody(body: JsonObject, references: readonly ImageFile[]): ImageBody {
  if (references.length === 0) return { kind: 'json', value: body };
  const fields = Object.entries(body).map(([name, value]) => [name, String(value)] as const);
  return { kind: 'multipart', fields, files: references.map((file) => ({ ...file, field: 'image' })) };
}

const samples: Readonly<Record<string, JsonObject>> = {
  'openai-chat': { messages: [{ role: 'user', content: 'Hello' }] },
  'openai-completions': { prompt: 'Hello' },
};

/** What the client's protocol reads from a body. Throws GatewayError as it does, Error for an unknown protocol. */
function callOf(name: string, body: JsonObject, references: readonly ImageFile[]): ChatCall | ImageCall {
  const protocol = builtIns.protocols.find((one) => one.name === name);
  if (protocol?.kind === 'chat') return protocol.readCall(body, { path: '', parameter: '', query: '' });
  if (protocol?.kind !== 'image' || protocol.client === undefined) throw new Error(`no client speaks ${name}`);
  return protocol.client.readCall(references.length > 0 ? 'edit' : 'generate', imageBody(body, references));
}

let count = 0;

/** A chat request of a key in the group `default`, or what is given. */
export function createExchange(given: ExchangeGiven = {}): TestExchange {
  const { protocol = 'openai-chat', references = [] } = given;
  const body = { model: 'test-model', ...(samples[protocol] ?? { prompt: 'A fox' }), ...given.body };
  const call = callOf(protocol, body, references);
  const operation = call.kind === 'chat' ? 'chat' : (`images.${call.operation}` as const);
  const key = keyOf(given.key ?? {});
  const group: Group = { name: key.group, multiplier: '1', limits: null, offers: new Map(), ...given.group };
  const offer: Offer = {
    model: modelOf(operation, given.model ?? {}),
    group,
    rate: given.rate ?? { quota: () => 0 },
    tiers: [],
  };
  const listeners: (() => void)[] = [];
  const route = routeOf(protocol, operation);
  let gone = false;
  return {
    id: `req_${++count}`,
    route,
    method: 'POST',
    path: route.path,
    headers: given.headers ?? {},
    parameter: '',
    query: '',
    startedAt: Date.now(),
    startedMono: performance.now(),
    principal: { key, group },
    body: Buffer.from(JSON.stringify(body)),
    call,
    offer,
    attempts: [],
    firstByteAt: 0,
    get aborted() {
      return gone;
    },
    fingerprint() {
      return [this.body];
    },
    onAbort(listener) {
      if (gone) listener();
      else listeners.push(listener);
    },
    hold: null,
    capture: null,
    channelOrigin: 'https://vendor.test',
    slots: [],
    leave() {
      gone = true;
      for (const listener of listeners.splice(0)) listener();
    },
  };
}
