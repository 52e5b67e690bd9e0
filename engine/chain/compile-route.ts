/** One route: which of all candidates can serve it, each with the protocol that fits its client's best. */
import type { ChatProtocol } from '../contract/chat.ts';
import type { DirectProtocol } from '../contract/direct.ts';
import type { ImageProtocol } from '../contract/image.ts';
import type { Candidate, Model, Route } from '../contract/model.ts';
import { isCapable } from '../contract/operations.ts';
import type { RealtimeProtocol } from '../contract/realtime.ts';
import type { VideoProtocol } from '../contract/video.ts';
import type { Protocol } from '../plugin.ts';
import { relayBridge } from './bridge.ts';
import { translateBridge } from './chat/translate.ts';
import type { CompiledChain, CompiledRoute, ReplyForm } from './compiled-route.ts';
import { directBridge } from './direct/bridge.ts';
import type { Lent } from './lent.ts';
import { modelsForm, modelsHeaders } from './models/models.ts';
import { googleForm, plainForm } from './plain-form.ts';
import { compileTransport, emptyTarget, type Target } from './target.ts';

export interface RouteMaterial {
  readonly chain: CompiledChain;
  readonly protocols: ReadonlyMap<string, Protocol>;
  readonly candidates: ReadonlyMap<Candidate, Model>;
  readonly lent: Lent;
}

export function compileRoute(route: Route, material: RouteMaterial): CompiledRoute {
  const { chain, protocols, candidates } = material;
  const client = protocols.get(route.protocol) ?? null;
  const targets = new Map<Candidate, Target>();
  for (const [candidate, model] of client === null ? [] : candidates) {
    const target = compileTarget(candidate, model, route, client!, material);
    if (target !== null) targets.set(candidate, target);
  }
  const headerNames = [...new Set([...chain.headerNames, ...headersRead(client)])];
  return { ...chain, headerNames, route, form: formOf(route, client), targets };
}

/** Headers that the route itself looks at; one without a protocol lists models. */
function headersRead(client: Protocol | null): readonly string[] {
  if (client === null) return modelsHeaders;
  if (client.kind === 'realtime') return client.client?.headers ?? [];
  return client.kind === 'chat' ? (client.passedHeaders ?? []) : [];
}

function formOf({ protocol }: Route, client: Protocol | null): ReplyForm {
  if (client === null) return protocol === 'gemini-models' ? googleForm : modelsForm;
  return client.kind === 'chat' ? client : (client.client ?? plainForm);
}

function compileTarget(
  candidate: Candidate,
  model: Model,
  { operation }: Route,
  client: Protocol,
  material: RouteMaterial,
): Target | null {
  const serves = isCapable(model.operations, operation);
  if (client.kind === 'image') return serves ? imageTarget(candidate, material) : null;
  if (client.kind === 'video') return serves ? videoTarget(candidate, material) : null;
  if (client.kind === 'direct') return serves ? directTarget(candidate, client, material) : null;
  if (client.kind === 'realtime') return serves ? realtimeTarget(candidate, client, material) : null;
  if (client.kind !== 'chat') return null;
  if (operation.startsWith('responses.')) return storedTarget(candidate, client, material);
  if (operation === 'chat.count') return serves ? countTarget(candidate, client, material) : null;
  if (serves) return chatTarget(candidate, client, material);
  // A chat route also serves images to clients that know no other.
  const draws = isCapable(model.operations, 'images.generate') || isCapable(model.operations, 'images.edit');
  return draws && client.images !== undefined && material.chain.onImages !== null
    ? imageTarget(candidate, material)
    : null;
}

function spokenBy({ channel }: Candidate, { protocols }: RouteMaterial): Protocol[] {
  return channel.protocols.map((name) => protocols.get(name)).filter((one) => one !== undefined);
}

function transportOf(candidate: Candidate, protocol: string, { lent }: RouteMaterial) {
  return compileTransport(candidate, protocol, lent.pools, lent.health.of(candidate.channel));
}

/** The client's own protocol where the channel speaks it, else the channel's first. */
function chatTarget(candidate: Candidate, client: ChatProtocol, material: RouteMaterial): Target | null {
  const spoken = spokenBy(candidate, material).filter((one) => one.kind === 'chat');
  const vendor = spoken.find((one) => one === client) ?? spoken[0];
  if (vendor === undefined) return null;
  const { onEvent } = material.chain;
  const isRelay = vendor === client && onEvent.length === 0;
  return {
    ...emptyTarget,
    ...withJson(transportOf(candidate, vendor.name, material)),
    passedHeaders: vendor === client ? (client.passedHeaders ?? []) : [],
    bridge: isRelay ? relayBridge(client) : translateBridge(client, vendor, onEvent),
  };
}

/** A channel whose protocol counts nothing has no target: the gateway estimates. */
function countTarget(candidate: Candidate, client: ChatProtocol, material: RouteMaterial): Target | null {
  const { speaks } = candidate.channel.vendor;
  const spoken = spokenBy(candidate, material).filter((one) => one.kind === 'chat');
  const counting = spoken.filter((one) => one.count !== undefined && speaks[one.name]?.count !== undefined);
  const vendor = counting.find((one) => one === client) ?? counting[0];
  if (vendor === undefined) return null;
  return {
    ...emptyTarget,
    ...withJson(transportOf(candidate, vendor.name, material)),
    passedHeaders: vendor === client ? (client.passedHeaders ?? []) : [],
    count: { vendor, codec: vendor.count! },
  };
}

/** The client's own format where the channel speaks it, else the first that can be translated. */
function directTarget(candidate: Candidate, client: DirectProtocol, material: RouteMaterial): Target | null {
  const spoken = spokenBy(candidate, material).filter((one) => one.kind === 'direct');
  for (const vendor of [...spoken.filter((one) => one === client), ...spoken]) {
    const direct = directBridge(client, vendor);
    if (direct !== null) return { ...emptyTarget, ...transportOf(candidate, vendor.name, material), direct };
  }
  return null;
}

/** A vendor that keeps answers of the client's protocol itself. */
function storedTarget(candidate: Candidate, client: ChatProtocol, material: RouteMaterial): Target | null {
  const keeps = candidate.channel.vendor.speaks[client.name]?.stored !== undefined;
  if (!keeps || !spokenBy(candidate, material).includes(client)) return null;
  return { ...emptyTarget, ...transportOf(candidate, client.name, material) };
}

/** Frames pass unchanged: the vendor speaks what the client does. */
function realtimeTarget(candidate: Candidate, client: RealtimeProtocol, material: RouteMaterial): Target | null {
  const vendor = spokenBy(candidate, material).find((one) => one === client) as RealtimeProtocol | undefined;
  if (vendor?.vendor === undefined) return null;
  return { ...emptyTarget, ...transportOf(candidate, vendor.name, material), realtime: vendor.vendor };
}

function imageTarget(candidate: Candidate, material: RouteMaterial): Target | null {
  const vendor = spokenBy(candidate, material).find(
    (one): one is ImageProtocol => one.kind === 'image' && one.vendor !== undefined,
  );
  if (vendor === undefined) return null;
  return { ...emptyTarget, ...transportOf(candidate, vendor.name, material), images: vendor.vendor! };
}

function videoTarget(candidate: Candidate, material: RouteMaterial): Target | null {
  const vendor = spokenBy(candidate, material).find(
    (one): one is VideoProtocol => one.kind === 'video' && one.vendor !== undefined,
  );
  if (vendor === undefined) return null;
  return { ...emptyTarget, ...transportOf(candidate, vendor.name, material), videos: vendor.vendor! };
}

/** Chat bodies are always JSON; image bodies may be multipart and name their type per request. */
function withJson(transport: ReturnType<typeof compileTransport>) {
  return { ...transport, headers: transport.headers.map((list) => [...list, 'content-type', 'application/json']) };
}
