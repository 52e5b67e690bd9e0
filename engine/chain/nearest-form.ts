/** How an error looks on a path that no route has: as on the routes beside it, where those agree. */
import { GatewayError } from '../errors.ts';
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
  const agree = first !== undefined && nearest.every((form) => looks(form) === looks(first));
  return agree ? first : plainForm;
}

const sample = new GatewayError('unknown_url');
const looks = (form: ReplyForm): string => JSON.stringify(form.encodeError(sample, ''));

function sharedParts(route: readonly string[], path: readonly string[]): number {
  const differs = route.findIndex((part, index) => part !== path[index]);
  return differs < 0 ? route.length : differs;
}
