/** Paths that end in a verb, as `/v1beta/models/*:generateContent` does. */
import type { CompiledRoute } from './compiled-route.ts';

const pattern = /^(.*\/)\*(:\w+)$/;

/** The verbs that stand beside the one of a path no route has; none where it has none. `method` in any case. */
export function verbsBeside(routes: readonly CompiledRoute[], method: string, path: string): string[] {
  return routes.flatMap(({ route }) => {
    const [, before, verb] = pattern.exec(route.path) ?? [];
    if (before === undefined || route.method.toLowerCase() !== method.toLowerCase()) return [];
    return path.startsWith(before) && path.includes(':', before.length) ? [verb!] : [];
  });
}
