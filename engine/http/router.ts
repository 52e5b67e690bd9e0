/** Method and path to a route: one Map look-up for exact paths, then the few patterns in the order of the file. */

export interface Routed<T> {
  readonly value: T;
  /** What `:name` or `*` matched; ''. */
  readonly parameter: string;
}

interface Pattern<T> {
  readonly expression: RegExp;
  readonly value: T;
}

interface Pathed {
  readonly method: string;
  readonly path: string;
}

class MethodTable<T> {
  readonly exact = new Map<string, Routed<T>>();
  readonly patterns: Pattern<T>[] = [];

  find(path: string): Routed<T> | null {
    const exact = this.exact.get(path);
    if (exact !== undefined) return exact;
    for (const { expression, value } of this.patterns) {
      const match = expression.exec(path);
      if (match !== null) return { value, parameter: match[1] ?? '' };
    }
    return null;
  }
}

function expressionFor(path: string): RegExp {
  const escaped = path.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/(?<=\/):\w+/g, '([^/]+)').replace(/\*/, '(.+)')}$`);
}

export class Router<T> {
  /** Keyed by lower-case method, as uWS gives it. */
  private readonly tables = new Map<string, MethodTable<T>>();

  add({ method, path }: Pathed, value: T): void {
    const key = method.toLowerCase();
    const table = this.tables.get(key) ?? new MethodTable<T>();
    this.tables.set(key, table);
    if (/[:*]/.test(path)) table.patterns.push({ expression: expressionFor(path), value });
    else table.exact.set(path, { value, parameter: '' });
  }

  /** HEAD is served where GET is. */
  find(method: string, path: string): Routed<T> | null {
    return this.tables.get(method === 'head' ? 'get' : method)?.find(path) ?? null;
  }

  /** The methods (upper-case) under which this path exists. */
  methodsOf(path: string): string[] {
    return [...this.tables].filter(([, table]) => table.find(path) !== null).map(([method]) => method.toUpperCase());
  }
}

/**
 * What was probably meant by a path that no route has (spec 7: doubled or missing `/v1`, repeated endpoint names); null
 * when there is no good guess. `exists` tells whether some method has a path.
 */
export function suggestPath(path: string, exists: (path: string) => boolean): string | null {
  const single = path.replace(/\/{2,}/g, '/').replace(/(.)\/$/, '$1');
  const parts = single.split('/').filter((part) => part !== '');
  const guesses = [
    single,
    `/v1${single}`,
    `/${withoutRepeats(parts).join('/')}`,
    `/v1/${withoutRepeats(parts.filter((part) => part !== 'v1')).join('/')}`,
  ];
  return guesses.find((guess) => guess !== path && exists(guess)) ?? null;
}

/** `/v1/v1/chat/completions/chat/completions` → `v1`, `chat`, `completions`. */
function withoutRepeats(parts: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < parts.length; at++) {
    const repeated = [1, 2, 3].find(
      (length) =>
        at >= length &&
        length <= kept.length &&
        parts.slice(at, at + length).join('/') === kept.slice(-length).join('/'),
    );
    if (repeated === undefined) kept.push(parts[at]!);
    else at += repeated - 1;
  }
  return kept;
}
