const DEPTH_LIMIT = 12;

/** A value that fits a JSON Schema well enough for tool arguments and structured output: every property, first choice. */
export function sampleValue(schema: unknown, depth = 0, root = schema): unknown {
  if (typeof schema !== 'object' || schema === null || depth > DEPTH_LIMIT) return 'Zürich';
  const {
    const: fixed,
    enum: choices,
    type,
    properties,
    items,
    anyOf,
    oneOf,
    $ref,
  } = schema as Record<string, unknown>;
  if (typeof $ref === 'string') return sampleValue(resolve($ref, root), depth + 1, root);
  if (fixed !== undefined) return fixed;
  if (Array.isArray(choices) && choices.length > 0) return choices[0];
  const branches = anyOf ?? oneOf;
  if (Array.isArray(branches) && branches.length > 0) return sampleValue(branches[0], depth + 1, root);
  const kind = (Array.isArray(type) ? type[0] : type) ?? (properties ? 'object' : 'string');
  switch (String(kind).toLowerCase()) {
    case 'object':
      return sampleObject(properties, depth, root);
    case 'array':
      return [sampleValue(items ?? {}, depth + 1, root)];
    case 'integer':
      return 42;
    case 'number':
      return 4.2;
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return 'Zürich';
  }
}

/** Local references only: `#/$defs/name`. */
function resolve(reference: string, root: unknown): unknown {
  const names = reference.split('/').slice(1);
  return names.reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], root);
}

function sampleObject(properties: unknown, depth: number, root: unknown): Record<string, unknown> {
  if (typeof properties !== 'object' || properties === null) return {};
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, sampleValue(schema, depth + 1, root)] as const),
  );
}
