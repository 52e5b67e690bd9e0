/** The routes of routes.yaml: names resolved, protocols fitting their operations, no route twice. */
import type { RoutesFile } from '../../schemas/types/routes.ts';
import type { Operation, Route, Stage } from '../contract/model.ts';
import { type FailoverTable, linkFailover } from './failover.ts';
import { type ChainLinks, normalizeStage } from './link-chains.ts';
import { duration, size } from './units.ts';

type Entry = RoutesFile['routes'][number];

export interface RouteLinks extends ChainLinks {
  readonly chains: ReadonlyMap<string, readonly Stage[]>;
  /** Paths that the gateway itself serves; a closing `/*` stands for all below. */
  readonly reserved: readonly string[];
}

/** Protocols of the model list; the engine itself speaks them. */
const catalogueProtocols = ['openai-models'];

const isCatalogue = (operation: Operation): boolean => operation.startsWith('models.');
const isImage = (operation: Operation): boolean => operation.startsWith('images.');

function fittingProtocols(links: RouteLinks, operation: Operation): string[] {
  if (isCatalogue(operation)) return catalogueProtocols;
  const { protocols } = links.registry;
  if (!isImage(operation)) return protocols.filter(({ kind }) => kind === 'chat').map(({ name }) => name);
  return protocols.filter((protocol) => protocol.kind === 'image' && protocol.client).map(({ name }) => name);
}

function checkProtocol(links: RouteLinks, index: number, { operation, protocol }: Entry): void {
  const fitting = fittingProtocols(links, operation);
  if (fitting.includes(protocol)) return;
  const exists = [...links.registry.protocols.map(({ name }) => name), ...catalogueProtocols].includes(protocol);
  const path = ['routes', index, 'protocol'];
  if (exists) links.faults.add(links.source, path, `does not fit ${operation}: use ${fitting.join(', ')}`);
  else links.faults.addUnknown(links.source, path, 'protocol', fitting);
}

function checkMethod(links: RouteLinks, index: number, { operation, method }: Entry): void {
  const wanted = isCatalogue(operation) ? 'GET' : 'POST';
  if (method !== wanted) links.faults.add(links.source, ['routes', index, 'method'], `${operation} needs ${wanted}`);
}

function checkChain(links: RouteLinks, index: number, { chain, operation }: Entry): void {
  const stages = links.chains.get(chain);
  const path = ['routes', index, 'chain'];
  if (stages === undefined) {
    links.faults.addUnknown(links.source, path, 'chain', links.chains.keys());
  } else if (isImage(operation) && !stages.some((stage) => stage.plugin === normalizeStage)) {
    links.faults.add(links.source, path, `a chain for ${operation} needs the stage ${normalizeStage}`);
  }
}

/** `/v1/models/:a` and `/v1/models/:b` are the same route. */
const shapeOf = ({ method, path }: Entry): string => `${method} ${path.replaceAll(/:[A-Za-z]+/g, ':')}`;

function checkPath(links: RouteLinks, index: number, entry: Entry, earlier: readonly Entry[]): void {
  const path = ['routes', index, 'path'];
  const twin = earlier.findIndex((other) => shapeOf(other) === shapeOf(entry));
  if (twin >= 0) links.faults.add(links.source, path, `routes[${twin}] has the same method and path`);
  const own = links.reserved.some((other) =>
    other.endsWith('/*') ? `${entry.path}/`.startsWith(other.slice(0, -1)) : other === entry.path,
  );
  if (own) links.faults.add(links.source, path, 'the gateway itself serves this path');
  if (entry.operation === 'models.get' && !/[:*]/.test(entry.path)) {
    links.faults.add(links.source, path, 'models.get needs a path with a part for the name, such as /v1/models/*');
  }
}

/** Every route in the order of the file. */
export function linkRoutes(links: RouteLinks): Route[] {
  const file = links.source.value as RoutesFile;
  const tables = new Map<Operation, FailoverTable>();
  return file.routes.map((entry, index) => {
    checkProtocol(links, index, entry);
    checkMethod(links, index, entry);
    checkChain(links, index, entry);
    checkPath(links, index, entry, file.routes.slice(0, index));
    const failover = tables.get(entry.operation) ?? linkFailover(file.failover, entry.operation);
    tables.set(entry.operation, failover);
    return { ...entry, timeout: duration(entry.timeout), bodyLimit: size(entry.bodyLimit), failover };
  });
}
