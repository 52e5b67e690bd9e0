import { isRecord, type Problem } from '../../checks.ts';

interface Place {
  readonly param: string;
  readonly code: string;
  /** `function 'lookup'` or `response_format 'answer'`. */
  readonly owner: string;
}

/** What OpenAI refuses of a schema: a root that is no object and, with `strict`, every object that is not closed and full. */
export function checkSchema(schema: unknown, strict: boolean, place: Place): Problem | undefined {
  const type = isRecord(schema) ? schema.type : undefined;
  if (type !== 'object') {
    const got = `got 'type: "${typeof type === 'string' ? type : 'None'}"'`;
    return wrongSchema(place, `schema must be a JSON Schema of 'type: "object"', ${got}.`);
  }
  const rule = strict ? brokenRule(schema, []) : undefined;
  return rule === undefined ? undefined : wrongSchema(place, rule);
}

const wrongSchema = ({ param, code, owner }: Place, rule: string): Problem => ({
  param,
  code,
  message: `Invalid schema for ${owner}: ${rule}`,
});

function brokenRule(schema: unknown, context: readonly string[]): string | undefined {
  if (!isRecord(schema)) return undefined;
  const place = `In context=(${context.map((name) => `'${name}'`).join(', ')})`;
  const properties = isRecord(schema.properties) ? schema.properties : {};
  if (schema.type === 'object' && schema.additionalProperties !== false)
    return `${place}, 'additionalProperties' is required to be supplied and to be false.`;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const missing = Object.keys(properties).find((name) => !required.includes(name));
  if (missing !== undefined)
    return `${place}, 'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`;
  return childrenOf(schema, properties)
    .map(([name, child]) => brokenRule(child, [...context, ...name]))
    .find((rule) => rule !== undefined);
}

function childrenOf(schema: Record<string, unknown>, properties: Record<string, unknown>): [string[], unknown][] {
  const named = (key: string, group: unknown): [string[], unknown][] =>
    isRecord(group) ? Object.entries(group).map(([name, child]) => [[key, name], child]) : [];
  const branches = Array.isArray(schema.anyOf) ? schema.anyOf : [];
  return [
    ...named('properties', properties),
    ...named('$defs', schema.$defs),
    ...branches.map((child, index): [string[], unknown] => [['anyOf', String(index)], child]),
    [['items'], schema.items],
  ];
}
