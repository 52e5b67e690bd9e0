/** The TypeScript type of a JSON Schema written `as const`: the few keywords that option schemas use. */
type Simplify<T> = { readonly [K in keyof T]: T[K] } & {};

type Defaulted<P> = { [K in keyof P]: P[K] extends { readonly default: unknown } ? K : never }[keyof P];

type RequiredKeys<S, P> = (S extends { readonly required: readonly (infer R)[] } ? R & keyof P : never) | Defaulted<P>;

type ObjectOf<S, P> = Simplify<
  { [K in keyof P as K extends RequiredKeys<S, P> ? K : never]: FromSchema<P[K]> } & {
    [K in keyof P as K extends RequiredKeys<S, P> ? never : K]?: FromSchema<P[K]>;
  }
>;

/** `{type:'object',properties:…}` and friends to a type; `unknown` for a schema that is not a literal. */
export type FromSchema<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly type: 'string' }
      ? string
      : S extends { readonly type: 'integer' | 'number' }
        ? number
        : S extends { readonly type: 'boolean' }
          ? boolean
          : S extends { readonly type: 'array'; readonly items: infer I }
            ? readonly FromSchema<I>[]
            : S extends { readonly properties: infer P }
              ? ObjectOf<S, P>
              : S extends { readonly type: 'object'; readonly additionalProperties: infer V }
                ? { readonly [key: string]: FromSchema<V> }
                : unknown;
