/** Configuration → snapshot: every look-up by name, every parse and every decision that can be made before a request. */
import type { Candidate, Group, Model, Route, Stage } from '../contract/model.ts';
import type { JsonSchema, MaybePromise } from '../contract/values.ts';
import type { Exchange, Hooks, Host, NormalizerDefinition, PluginDefinition, Registry, Slot } from '../plugin.ts';
import type { EventHook } from './chat/translate.ts';
import { compileRoute } from './compile-route.ts';
import type {
  CompiledChain,
  CompiledStage,
  HeadHook,
  ImagesHook,
  PartHook,
  RequestHook,
  SettledHook,
} from './compiled-route.ts';
import type { Lent } from './lent.ts';
import { Snapshot } from './snapshot.ts';

/** What of a linked configuration becomes a snapshot. */
export interface Linked {
  readonly groups: ReadonlyMap<string, Group>;
  readonly models: ReadonlyMap<string, Model>;
  readonly routes: readonly Route[];
  readonly chains: ReadonlyMap<string, readonly Stage[]>;
  readonly registry: Registry;
}

/** A plugin's `create` refused its options; `cause` is what it threw. */
export class StageError extends Error {
  readonly chain: string;
  readonly index: number;

  constructor(chain: string, index: number, plugin: string, cause: unknown) {
    super(`the plugin ${plugin} cannot start: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'StageError';
    this.chain = chain;
    this.index = index;
  }
}

/** A route whose chain cannot serve it; `index` counts the routes of the file. */
export class RouteError extends Error {
  readonly index: number;

  constructor(index: number, message: string) {
    super(message);
    this.name = 'RouteError';
    this.index = index;
  }
}

/** What no request could do without, found at load rather than at the first request. */
function requireHooks(index: number, { chain, operation }: Route, compiled: CompiledChain): void {
  if (compiled.onHead.length === 0)
    throw new RouteError(index, `the chain ${chain} needs a stage that tells who asks, such as auth`);
  if (operation.startsWith('images.') && compiled.onImages === null)
    throw new RouteError(index, `the chain ${chain} needs a stage that delivers images, such as storage`);
}

export async function compileSnapshot(linked: Linked, lent: Lent): Promise<Snapshot> {
  const slots = { count: 0 };
  const closers: (() => MaybePromise<void>)[] = [];
  const host: Host = {
    ...lent.host,
    slot: <T>() => reserveSlot<T>(slots.count++),
    group: (name) => linked.groups.get(name) ?? null,
  };
  const normalize = compileNormalizers(linked);
  const chains = new Map<string, CompiledChain>();
  try {
    for (const [name, stages] of linked.chains)
      chains.set(name, await compileChain(name, stages, linked.registry, host, normalize, closers));
    const protocols = new Map(linked.registry.protocols.map((protocol) => [protocol.name, protocol]));
    const candidates = allCandidates(linked.groups);
    const routes = linked.routes.map((route, index) => {
      const chain = chains.get(route.chain)!;
      requireHooks(index, route, chain);
      return compileRoute(route, { chain, protocols, candidates, lent });
    });
    return new Snapshot({
      groups: linked.groups,
      models: linked.models,
      routes,
      slotCount: slots.count,
      closers,
      log: lent.log,
    });
  } catch (error) {
    await Promise.allSettled(closers.map(async (close) => close()));
    throw error;
  }
}

function reserveSlot<T>(index: number): Slot<T> {
  return {
    get: (exchange) => exchange.slots[index] as T | undefined,
    set: (exchange, value) => {
      exchange.slots[index] = value;
    },
  };
}

/** One function per model; those of `passthrough` models do nothing. */
function compileNormalizers({ models, registry }: Linked): RequestHook {
  const definitions = new Map<string, NormalizerDefinition<JsonSchema>>(
    registry.normalizers.map((one) => [one.name, one]),
  );
  const byModel = new Map<Model, (exchange: Exchange) => void>();
  for (const model of models.values())
    byModel.set(model, definitions.get(model.family.normalizer)!.compile(model.rules, model));
  return (exchange) => {
    byModel.get(exchange.offer!.model)!(exchange);
    return undefined;
  };
}

async function compileChain(
  chain: string,
  stages: readonly Stage[],
  registry: Registry,
  host: Host,
  normalize: RequestHook,
  closers: (() => MaybePromise<void>)[],
): Promise<CompiledChain> {
  const definitions = new Map<string, PluginDefinition<JsonSchema>>(registry.plugins.map((one) => [one.name, one]));
  const headerNames = new Set(['content-type', 'content-length']);
  const hooks: Hooks[] = [];
  const onRequest: RequestHook[] = [];
  const compiled: CompiledStage[] = [];
  for (const [index, stage] of stages.entries()) {
    if (stage.plugin === 'normalize') {
      onRequest.push(normalize);
      compiled.push({ plugin: stage.plugin, hooks: ['onRequest'] });
      continue;
    }
    const definition = definitions.get(stage.plugin)!;
    for (const name of definition.headers ?? []) headerNames.add(name);
    const instance = await createInstance(definition, stage, host, { chain, index });
    hooks.push(instance);
    compiled.push({ plugin: stage.plugin, hooks: hookNames.filter((name) => instance[name] !== undefined) });
    if (instance.onRequest) onRequest.push(instance.onRequest.bind(instance) as RequestHook);
    if (instance.close) closers.push(instance.close.bind(instance));
  }
  const bound = <K extends keyof Hooks>(name: K) =>
    hooks
      .filter((one) => one[name] !== undefined)
      .map((one) => (one[name] as (...values: never[]) => unknown).bind(one));
  return {
    stages: compiled,
    headerNames: [...headerNames],
    onHead: bound('onHead') as unknown as HeadHook[],
    onRequest,
    onEvent: bound('onEvent') as unknown as EventHook[],
    onImages: (bound('onImages').at(-1) as unknown as ImagesHook | undefined) ?? null,
    onPart: bound('onPart').reverse() as unknown as PartHook[],
    onSettled: bound('onSettled').reverse() as unknown as SettledHook[],
  };
}

const hookNames = ['onHead', 'onRequest', 'onEvent', 'onImages', 'onPart', 'onSettled'] as const;
/** A misspelt hook would never run, and nobody would notice. */
const knownHooks: ReadonlySet<string> = new Set([...hookNames, 'close']);

/** Operators' plugins are JavaScript: what they answer was seen by no compiler. */
const isHooks = (value: unknown): value is Hooks =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

async function createInstance(
  definition: PluginDefinition<JsonSchema>,
  stage: Stage,
  host: Host,
  place: { readonly chain: string; readonly index: number },
): Promise<Hooks> {
  try {
    const hooks: unknown = await definition.create(stage.options, host);
    if (!isHooks(hooks)) throw new Error('its `create` answers no object of hooks');
    const unknown = Object.keys(hooks).find((name) => !knownHooks.has(name));
    if (unknown !== undefined)
      throw new Error(`there is no hook ${unknown}; the hooks are ${[...knownHooks].join(', ')}`);
    return hooks;
  } catch (error) {
    throw new StageError(place.chain, place.index, stage.plugin, error);
  }
}

function allCandidates(groups: ReadonlyMap<string, Group>): Map<Candidate, Model> {
  const candidates = new Map<Candidate, Model>();
  for (const group of groups.values()) {
    for (const offer of group.offers.values())
      for (const tier of offer.tiers) for (const candidate of tier) candidates.set(candidate, offer.model);
  }
  return candidates;
}
