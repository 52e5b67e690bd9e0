import { compileSchema } from '../../../engine/config/validate.ts';
import type { JsonObject, JsonSchema } from '../../../engine/plugin.ts';

type Properties = Readonly<Record<string, JsonSchema>>;

function undescribed(schema: JsonSchema, path: string): string[] {
  return Object.entries((schema.properties ?? {}) as Properties).flatMap(([name, property]) => {
    const own = typeof property.description === 'string' ? [] : [`${path}${name}`];
    return [...own, ...undescribed(property, `${path}${name}.`)];
  });
}

/**
 * The options as the configuration would hand them over: checked, defaults filled in. Throws Error where the schema is
 * open, leaves a property undescribed, or does not accept what was given.
 */
export function checkedOptions(name: string, schema: JsonSchema, given: JsonObject): JsonObject {
  if (!/^[a-z][a-z0-9-]*$/.test(name))
    throw new Error(`the name "${name}" is not made of lower-case letters and dashes`);
  if (schema.additionalProperties !== false)
    throw new Error(`${name}: the schema must have additionalProperties: false`);
  const missing = undescribed(schema, '');
  if (missing.length > 0) throw new Error(`${name}: without description: ${missing.join(', ')}`);
  const options = structuredClone(given);
  const problems = compileSchema(schema)(options);
  if (problems.length > 0)
    throw new Error(`${name}: ${problems.map(({ path, message }) => [...path, message].join(' ')).join('; ')}`);
  return options;
}
