/** Turns what the schema checker found into sentences that an operator can act upon. No value is ever quoted. */
import { nearest } from './nearest.ts';

/** The part of a schema checker's finding that sentences are made of. */
export interface Finding {
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly value: unknown;
  readonly fallback: string;
}

export interface Sentence {
  readonly message: string;
  readonly hint: string | null;
  /** A key below the finding's own path that the sentence is about. */
  readonly below: string | number | null;
  readonly at: 'key' | 'value';
}

type Write = (finding: Finding) => Partial<Sentence> & { readonly message: string };

const articles: Record<string, string> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'a mapping (key: value)',
  array: 'a list',
  null: 'empty',
};

const expected = (schema: Finding['schema']): string | null => {
  const words = schema['x-expected'];
  return typeof words === 'string' ? words : null;
};

function typeWords(finding: Finding): string {
  const types = [finding.params.type].flat().map(String);
  const words = expected(finding.schema) ?? types.map((type) => articles[type] ?? type).join(' or ');
  const unquoted = words === articles.string && ['number', 'boolean'].includes(typeof finding.value);
  return unquoted ? `${words}: put it in quotes` : words;
}

const plurals: Record<string, string> = { entry: 'entries', key: 'keys', character: 'characters' };
const plural = (count: unknown, word: string): string => `${count} ${count === 1 ? word : plurals[word]}`;

const properties = (schema: Finding['schema']): string[] =>
  Object.keys((schema.properties as object | undefined) ?? {});

const unknownKey = (key: unknown, schema: Finding['schema']): ReturnType<Write> => {
  const known = properties(schema);
  const hint = nearest(String(key), known);
  const words = expected(schema);
  if (words !== null) return { message: `the key must be ${words}`, hint, below: String(key), at: 'key' };
  const list = known.length > 0 ? `; known are ${known.join(', ')}` : '';
  return { message: `unknown key${hint === null ? list : ''}`, hint, below: String(key), at: 'key' };
};

const bound =
  (words: string): Write =>
  (finding) => ({ message: `must be ${expected(finding.schema) ?? `${words} ${finding.params.limit}`}` });

const writers: Readonly<Record<string, Write>> = {
  additionalProperties: (finding) => unknownKey(finding.params.additionalProperty, finding.schema),
  unevaluatedProperties: (finding) => unknownKey(finding.params.unevaluatedProperty, finding.schema),
  required: (finding) => ({ message: `needs the key "${finding.params.missingProperty}"`, at: 'key' }),
  type: (finding) => ({ message: `must be ${typeWords(finding)}` }),
  enum: (finding) => {
    const allowed = (finding.params.allowedValues as unknown[]).map(String);
    const hint = typeof finding.value === 'string' ? nearest(finding.value, allowed) : null;
    return { message: `must be one of ${allowed.join(', ')}`, hint };
  },
  const: (finding) => ({ message: `must be ${JSON.stringify(finding.params.allowedValue)}` }),
  pattern: (finding) => ({ message: `must be ${expected(finding.schema) ?? `like ${finding.params.pattern}`}` }),
  format: (finding) => ({ message: `must be ${expected(finding.schema) ?? `a ${finding.params.format}`}` }),
  propertyNames: (finding) => {
    const names = (finding.schema.propertyNames ?? {}) as Finding['schema'];
    const words = expected(names) ?? 'an allowed name';
    return { message: `the key must be ${words}`, below: String(finding.params.propertyName), at: 'key' };
  },
  minimum: bound('at least'),
  maximum: bound('at most'),
  exclusiveMinimum: bound('more than'),
  exclusiveMaximum: bound('less than'),
  minLength: (finding) => ({
    message:
      finding.params.limit === 1
        ? 'must not be empty'
        : `must have at least ${plural(finding.params.limit, 'character')}`,
  }),
  maxLength: (finding) => ({ message: `must have at most ${plural(finding.params.limit, 'character')}` }),
  minItems: (finding) => ({ message: `must have at least ${plural(finding.params.limit, 'entry')}` }),
  maxItems: (finding) => ({ message: `must have at most ${plural(finding.params.limit, 'entry')}` }),
  minProperties: (finding) => ({ message: `must have at least ${plural(finding.params.limit, 'key')}` }),
  maxProperties: (finding) => ({ message: `must have at most ${plural(finding.params.limit, 'key')}` }),
  uniqueItems: (finding) => ({
    message: 'the same entry stands in the list twice',
    below: Math.max(Number(finding.params.i), Number(finding.params.j)),
  }),
};

/** One sentence for one finding. */
export function writeSentence(finding: Finding): Sentence {
  const written = writers[finding.keyword]?.(finding) ?? { message: finding.fallback };
  return { hint: null, below: null, at: 'value', ...written };
}
