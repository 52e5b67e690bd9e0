/** What changed in gateway.yaml, and whether it holds at once or after a restart (`x-reload` in the schema). */
import { compareFacts, type Fact, hidden, shown } from './facts.ts';
import { schemas } from './schemas.ts';
import type { GatewaySettings } from './settings.ts';
import { formatDuration, formatSize } from './units.ts';

type Node = Readonly<Record<string, unknown>>;

interface Leaf {
  readonly value: string | number | boolean | null;
  readonly schema: Node;
  readonly reload: unknown;
}

const childOf = (schema: Node, key: string): Node =>
  ((schema.properties as Record<string, Node> | undefined)?.[key] ?? {}) as Node;

/** Every setting by its dotted path. Where the schema does not know a part (linked credentials), its parent speaks. */
function* leavesOf(value: unknown, schema: Node, reload: unknown, path: string): Generator<[string, Leaf]> {
  const mark = schema['x-reload'] ?? reload;
  if (typeof value !== 'object' || value === null) {
    yield [path, { value: value as Leaf['value'], schema, reload: mark }];
    return;
  }
  for (const [key, child] of Object.entries(value)) {
    yield* leavesOf(child, childOf(schema, key), mark, path === '' ? key : `${path}.${key}`);
  }
}

/** Free text may come from the environment: only words of a list, numbers and booleans are told. */
function factOf({ value, schema }: Leaf): Fact {
  const expected = String(schema['x-expected'] ?? '');
  if (value === 0 && /\boff\b/.test(expected)) return shown('off');
  if (typeof value === 'number' && expected.startsWith('a duration')) return shown(formatDuration(value));
  if (typeof value === 'number' && expected.startsWith('a size')) return shown(formatSize(value));
  return typeof value === 'string' && schema.enum === undefined ? hidden(value) : shown(value);
}

/** `listen.port 8080 → 9090 (needs a restart)` */
export function diffSettings(before: GatewaySettings, after: GatewaySettings): string[] {
  const old = new Map(leavesOf(before, schemas.gateway, undefined, ''));
  const current = new Map(leavesOf(after, schemas.gateway, undefined, ''));
  return [...new Set([...old.keys(), ...current.keys()])].flatMap((path) => {
    const [was, is] = [old.get(path), current.get(path)];
    const change = compareFacts(was && factOf(was), is && factOf(is));
    const when = (is ?? was)?.reload === 'live' ? 'live' : 'needs a restart';
    return change === null ? [] : [`${path} ${change} (${when})`];
  });
}
