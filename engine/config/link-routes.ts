/** The routes of routes.yaml: names resolved, protocols fitting their operations, no route twice. */
import type { RoutesFile } from '../../schemas/types/routes.ts';
import type { FailoverTable, Route, Stage } from '../contract/model.ts';
import { type Operation, operationEntry } from '../contract/operations.ts';
import type { Protocol } from '../plugin.ts';
import { linkFailover } from './failover.ts';
import { type ChainLinks, normalizeStage } from './link-chains.ts';
import { duration, size } from './units.ts';

type Entry = RoutesFile['routes'][number];

export interface RouteLinks extends ChainLinks {
  readonly chains: ReadonlyMap<string, readonly Stage[]>;
  /** Paths that the gateway itself serves; a closing `/*` stands for all below. */
  readonly reserved: readonly string[];
}

/** Protocols of the model list; the engine itself speaks them. */
const catalogueProtocols = ['openai-models', 'gemini-models'];

const isImage = (operation: Operation): boolean => operation.startsWith('images.');

function fittingProtocols(links: RouteLinks, operation: Operation): string[] {
  const { kind } = operationEntry(operation);
  if (kind === 'catalogue') return catalogueProtocols;
  const spoken = links.registry.protocols.filter(
    (protocol) => protocol.kind === kind && isSpokenBy(protocol, operation),
  );
  return spoken.map(({ name }) => name);
}

/** Whether a client can speak it on a route of the operation. */
function isSpokenBy(protocol: Protocol, operation: Operation): boolean {
  if (protocol.kind === 'direct') return protocol.client !== undefined && protocol.operation === operation;
  if (protocol.kind !== 'chat') return protocol.client !== undefined;
  if (operation.startsWith('responses.')) return protocol.state !== undefined;
  return operation !== 'chat.count' || protocol.count !== undefined;
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
  const { method: wanted } = operationEntry(operation);
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
const shapeOf = ({ method, path }: Entry): string => `${method} ${path.replaceAll(/(?<=\/):[A-Za-z]+/g, ':')}`;

/** A path that a pattern matches, if it matches every path that `path` stands for. */
const sampleOf = (path: string): string => path.replaceAll(/(?<=\/):[A-Za-z]+/g, 'a').replace('*', 'a/a');

const expressionOf = (path: string): RegExp => {
  const escaped = path.replaceAll('.', '[.]');
  return new RegExp(`^${escaped.replaceAll(/(?<=\/):[A-Za-z]+/g, '[^/]+').replace('*', '.+')}$`);
};

const isPattern = (path: string): boolean => /[:*]/.test(path);

/** Exact paths are found first, then patterns in the order of the file. */
const hides = (earlier: Entry, later: Entry): boolean =>
  earlier.method === later.method &&
  isPattern(earlier.path) &&
  isPattern(later.path) &&
  expressionOf(earlier.path).test(sampleOf(later.path));

/** A path that ends in `/*` stands for all below it. */
export const isAmong = (paths: readonly string[], path: string): boolean =>
  paths.some((other) => (other.endsWith('/*') ? `${path}/`.startsWith(other.slice(0, -1)) : other === path));

function checkPath(links: RouteLinks, index: number, entry: Entry, earlier: readonly Entry[]): void {
  const path = ['routes', index, 'path'];
  const twin = earlier.findIndex((other) => shapeOf(other) === shapeOf(entry));
  if (twin >= 0) links.faults.add(links.source, path, `routes[${twin}] has the same method and path`);
  const hiding = earlier.findIndex((other) => hides(other, entry));
  if (twin < 0 && hiding >= 0) {
    const message = `routes[${hiding}] (${earlier[hiding]!.path}) gets its requests: put this route before it`;
    links.faults.add(links.source, path, message);
  }
  if (isAmong(links.reserved, entry.path)) links.faults.add(links.source, path, 'the gateway itself serves this path');
  if (operationEntry(entry.operation).named && !isPattern(entry.path)) {
    const message = `${entry.operation} needs a path with a part for the name, such as /v1/models/*`;
    links.faults.add(links.source, path, message);
  }
}

/** Every route in the order of the file. */
export function linkRoutes(links: RouteLinks): Route[] {
  const file = links.source.value as RoutesFile;
  const tables = new Map<Operation, FailoverTable>();
  const tableOf = (operation: Operation): FailoverTable => {
    const table = tables.get(operation) ?? linkFailover(file.failover, operation);
    tables.set(operation, table);
    return table;
  };
  return file.routes.map((entry, index) => {
    checkProtocol(links, index, entry);
    checkMethod(links, index, entry);
    checkChain(links, index, entry);
    checkPath(links, index, entry, file.routes.slice(0, index));
    const failover = tableOf(entry.operation);
    // Images that a chat route is asked for are not made twice either.
    const imageFailover = tableOf(
      operationEntry(entry.operation).kind === 'image' ? entry.operation : 'images.generate',
    );
    return { ...entry, timeout: duration(entry.timeout), bodyLimit: size(entry.bodyLimit), failover, imageFailover };
  });
}
