/** How an error looks on a path that no route has: as on the routes beside it, where those agree. */
import type { CompiledRoute, ReplyForm } from './compiled-route.ts';
import { plainForm } from './plain-form.ts';

export function nearestForm(routes: readonly CompiledRoute[], path: string): ReplyForm {
  const parts = path.split('/');
  let nearest: ReplyForm[] = [];
  let most = 1;
  for (const { route, form } of routes) {
    const shared = sharedParts(route.path.split('/'), parts);
    if (shared > most) nearest = [];
    if (shared >= Math.max(most, 2)) nearest.push(form);
    most = Math.max(most, shared);
  }
  const [first] = nearest;
  const agree = nearest.every(({ encodeError }) => encodeError === first?.encodeError);
  return first !== undefined && agree ? first : plainForm;
}

function sharedParts(route: readonly string[], path: readonly string[]): number {
  const differs = route.findIndex((part, index) => part !== path[index]);
  return differs < 0 ? route.length : differs;
}
