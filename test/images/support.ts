import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { compileSchema } from '../../engine/config/validate.ts';
import type {
  Exchange,
  GatewayError,
  ImageCall,
  ImageFields,
  JsonObject,
  Model,
  NormalizerDefinition,
  Pieces,
} from '../../engine/plugin.ts';
import alpha from '../../plugins/families/alpha.ts';
import beta from '../../plugins/families/beta.ts';
import gamma from '../../plugins/families/gamma.ts';
import passthrough from '../../plugins/families/passthrough.ts';
import { encodePng } from '../../simulator/images/png.ts';

interface ModelsFile {
  readonly families: Record<string, { readonly normalizer: string; readonly rules?: JsonObject }>;
  readonly models: Record<string, { readonly family: string; readonly rules?: JsonObject }>;
}

const file = parse(readFileSync(new URL('../../models.yaml', import.meta.url), 'utf8')) as ModelsFile;
const normalizers = [alpha, beta, gamma, passthrough] as unknown as readonly NormalizerDefinition[];

export type Normalize = (exchange: Exchange) => void;

/** Checks rules as the configuration does, defaults filled in, and compiles them. */
export function compileRules(name: string, rules: JsonObject): Normalize {
  const normalizer = normalizers.find((candidate) => candidate.name === name)!;
  const filled = structuredClone(rules);
  const problems = compileSchema(normalizer.rules)(filled);
  if (problems.length > 0) throw new Error(problems.map(({ path, message }) => `${path.join('.')} ${message}`).join());
  return normalizer.compile(filled, { name: 'test' } as Model);
}

/** A model of the shipped models.yaml with its family's rules. */
export function shippedModel(name: string): Normalize {
  const model = file.models[name]!;
  const family = file.families[model.family]!;
  return compileRules(family.normalizer, { ...family.rules, ...model.rules });
}

const noFields: ImageFields = {
  n: null,
  size: null,
  aspect_ratio: null,
  resolution: null,
  image_size: null,
  quality: null,
};

/** What `aspect_ratio` may be for a model of the shipped models.yaml. */
export function shippedRatios(name: string): readonly string[] {
  const model = file.models[name]!;
  return { ...file.families[model.family]!.rules, ...model.rules }.ratios as readonly string[];
}

export function imageCall(fields: Partial<ImageFields> = {}, call: Partial<ImageCall> = {}): ImageCall {
  return {
    kind: 'image',
    operation: 'generate',
    model: 'test',
    prompt: 'A fox in fog',
    fields: { ...noFields, ...fields },
    responseFormat: 'url',
    stream: false,
    partialImages: null,
    references: [],
    mask: null,
    extra: {},
    claims: [],
    settings: { n: fields.n ?? 1, size: null, quality: null, aspectRatio: null, resolution: null },
    ...call,
  };
}

/** Enough of an exchange for what looks at the call only. */
export const exchangeOf = (call: ImageCall, more: Partial<Exchange> = {}): Exchange =>
  ({ id: 'req_1', call, channelOrigin: 'https://vendor.test', ...more }) as Exchange;

export function normalized(
  normalize: Normalize,
  fields: Partial<ImageFields>,
  call: Partial<ImageCall> = {},
): ImageCall {
  const made = imageCall(fields, call);
  normalize(exchangeOf(made));
  return made;
}

/** What was thrown, as code, status, param and message. */
export function refusal(run: () => unknown): Pick<GatewayError, 'code' | 'status' | 'param' | 'message'> {
  try {
    run();
  } catch (thrown) {
    const { code, status, param, message } = thrown as GatewayError;
    return { code, status, param, message };
  }
  throw new Error('nothing was thrown');
}

export const textOf = (pieces: Pieces): string => Buffer.concat(pieces).toString();
export const jsonOf = (pieces: Pieces) => JSON.parse(textOf(pieces));

export const png = (width = 48, height = 32): Buffer => encodePng(width, height, [200, 100, 50]);
export const pngFile = (name = 'a.png') => ({ bytes: png(), mediaType: 'image/png', name });
