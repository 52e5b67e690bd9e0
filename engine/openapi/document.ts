/** `GET /openapi.json`: the routes of a configuration as an OpenAPI 3.1 document. */
import { packageVersion } from '../config/index.ts';
import type { Route, Stage } from '../contract/model.ts';
import type { JsonObject } from '../contract/values.ts';
import { entryOf } from './catalogue/index.ts';
import type { ErrorForm } from './entry.ts';
import { errorResponses } from './errors.ts';
import { operationOf, securitySchemes } from './operation.ts';
import { pathTemplate } from './path.ts';
import { collectSchemas } from './schemas.ts';

/** What of a configuration the document tells. Models, channels and vendors are none of its business. */
export interface Described {
  readonly routes: readonly Route[];
  readonly chains: ReadonlyMap<string, readonly Stage[]>;
}

const description =
  'One set of interfaces over the models of several vendors. Which models a key may use is told by the model list.';

const headers: JsonObject = {
  RequestId: { description: 'The id of the request, which the usage log has too.', schema: { type: 'string' } },
  RetryAfter: { description: 'Seconds to wait.', schema: { type: 'integer' } },
  Location: { description: 'A signed URL that expires.', schema: { type: 'string', format: 'uri' } },
};

/** `createVideo`, `createVideo2`, …: ids are unique in a document. */
function uniqueIds(): (id: string) => string {
  const used = new Map<string, number>();
  return (id) => {
    const count = (used.get(id) ?? 0) + 1;
    used.set(id, count);
    return count === 1 ? id : `${id}${count}`;
  };
}

export function openApiDocument({ routes, chains }: Described, publicUrl: string | null): JsonObject {
  const paths: Record<string, JsonObject> = {};
  const forms = new Set<ErrorForm>();
  const tags = new Set<string>();
  const idOf = uniqueIds();
  for (const route of routes) {
    const template = pathTemplate(route);
    const method = route.method.toLowerCase();
    paths[template] ??= {};
    // Two patterns may be one template: the first serves.
    if (paths[template][method] !== undefined) continue;
    const entry = entryOf(route);
    const stages = chains.get(route.chain) ?? [];
    paths[template][method] = operationOf({ route, entry, stages, template, operationId: idOf(entry.id) });
    forms.add(entry.errors);
    tags.add(entry.tag);
  }
  const responses = errorResponses(forms);
  return {
    openapi: '3.1.0',
    info: { title: 'Unified model gateway', version: packageVersion(), description },
    // A path alone is relative to where the document was found.
    servers: [{ url: publicUrl ?? '/' }],
    tags: [...tags].map((name) => ({ name })),
    paths,
    components: { schemas: collectSchemas([paths, responses]), responses, headers, securitySchemes },
  };
}
