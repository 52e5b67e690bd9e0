/** A registry as small as the checks of the configuration need it: the built-ins' names and rules, no behaviour. */
import type { ChatProtocol, ImageProtocol, JsonSchema, Registry } from '../../engine/plugin.ts';

const closed = (properties: object, required: string[] = []): JsonSchema => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
});

const plugin = (name: string, requires: string[] = [], options: JsonSchema = closed({})) => ({
  name,
  summary: `The plugin ${name}.`,
  options,
  requires,
  create: () => ({}),
});

const normalizer = (name: string, rules: JsonSchema) => ({
  name,
  summary: `The rules of ${name}.`,
  rules,
  compile: () => () => {},
});

const vendor = (name: string, ...protocols: string[]) => ({
  name,
  summary: `The vendor ${name}.`,
  baseUrl: `https://${name}.example/v1`,
  auth: { header: 'authorization', value: 'Bearer {credential}' },
  speaks: Object.fromEntries(protocols.map((protocol) => [protocol, { whole: '/x' }])),
});

const chat = (name: string) => ({ kind: 'chat', name, summary: name }) as ChatProtocol;
const image = (name: string, client: boolean) =>
  ({ kind: 'image', name, summary: name, ...(client ? { client: {} } : {}) }) as ImageProtocol;

const text = { type: 'string' };
const texts = { type: 'array', items: text, minItems: 1 };
const count = closed({ maximum: { type: 'integer', minimum: 1, default: 1 } });
const shape = closed({ aspectRatio: text, resolution: text }, ['aspectRatio', 'resolution']);

const betaRules = closed(
  {
    ratios: texts,
    tiers: texts,
    defaults: { ...shape, required: [] },
    qualityTiers: { type: 'object', additionalProperties: text },
    references: { type: 'integer', minimum: 0, default: 14 },
    n: { ...count, default: {} },
    sizes: { type: 'object', additionalProperties: shape, default: {} },
  },
  ['ratios', 'tiers'],
);

const gammaRules = closed({
  ratios: texts,
  tiers: { type: 'array', items: { type: 'string', enum: ['1k', '2k'] } },
  qualities: texts,
  references: { type: 'integer', minimum: 0, default: 5 },
  n: count,
});

const alphaRules = closed(
  {
    fixed: closed({ size: { type: 'string', pattern: '^\\d+x\\d+$' }, quality: text }, ['size', 'quality']),
    references: { type: 'integer', minimum: 0, default: 16 },
    n: count,
  },
  ['fixed'],
);

export const registry: Registry = {
  plugins: [
    plugin('auth'),
    plugin('limits', ['auth'], closed({ scope: { type: 'string', enum: ['key', 'group'], default: 'key' } })),
    plugin('idempotency', ['auth'], closed({ window: { type: 'string', format: 'duration', default: '24h' } })),
    plugin('conflicts', ['normalize']),
    plugin('billing', ['auth']),
    plugin('storage', ['normalize']),
  ],
  normalizers: [
    normalizer('alpha', alphaRules),
    normalizer('beta', betaRules),
    normalizer('gamma', gammaRules),
    normalizer('passthrough', closed({})),
  ],
  vendors: [
    vendor('openai', 'openai-chat', 'openai-completions', 'openai-images'),
    vendor('gemini', 'gemini-generate'),
    vendor('xai', 'xai-images', 'openai-chat'),
  ],
  protocols: [
    chat('openai-chat'),
    chat('openai-completions'),
    image('openai-images', true),
    image('gemini-generate', false),
    image('xai-images', false),
  ],
};
