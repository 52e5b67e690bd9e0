/** Paths as OpenAPI writes them. */
import type { Route } from '../contract/model.ts';
import type { JsonObject } from '../contract/values.ts';

const isModel = ({ operation }: Route): boolean => operation === 'models.get' || !operation.includes('.');

/** `/v1/models/*` → `/v1/models/{model}`, `/v1/videos/:id` → `/v1/videos/{id}`, `/*:verb` → `/{model}:verb`. */
export function pathTemplate(route: Route): string {
  const rest = isModel(route) || route.path.includes('*:') ? '{model}' : '{id}';
  return route.path.replace('*', rest).replace(/(?<=\/):(\w+)/g, '{$1}');
}

const meanings: Readonly<Record<string, string>> = {
  model: 'Name of the model. It may hold slashes.',
  id: 'Id of what is asked for.',
};

export function pathParameters(template: string): JsonObject[] {
  return [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: meanings[name] ?? 'Part of the path.',
    schema: { type: 'string' },
  }));
}
