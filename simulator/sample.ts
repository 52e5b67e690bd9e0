const DEPTH_LIMIT = 12;

/** A value that fits a JSON Schema well enough for tool arguments and structured output: every property, first choice. */
export function sampleValue(schema: unknown, depth = 0): unknown {
  if (typeof schema !== 'object' || schema === null || depth > DEPTH_LIMIT) return 'Zürich';
  const { const: fixed, enum: choices, type, properties, items } = schema as Record<string, unknown>;
  if (fixed !== undefined) return fixed;
  if (Array.isArray(choices) && choices.length > 0) return choices[0];
  const kind = (Array.isArray(type) ? type[0] : type) ?? (properties ? 'object' : 'string');
  switch (String(kind).toLowerCase()) {
    case 'object':
      return sampleObject(properties, depth);
    case 'array':
      return [sampleValue(items ?? {}, depth + 1)];
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

function sampleObject(properties: unknown, depth: number): Record<string, unknown> {
  if (typeof properties !== 'object' || properties === null) return {};
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, sampleValue(schema, depth + 1)] as const),
  );
}
