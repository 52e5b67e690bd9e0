import {
  compileNearestRatio,
  defineNormalizer,
  GatewayError,
  parsePixelSize,
  quoted,
  requireListed,
  standardSeconds,
  type VideoCall,
  type VideoRequest,
} from '../../engine/plugin.ts';

interface Rules {
  readonly seconds?: { readonly allowed?: readonly number[]; readonly default?: number; readonly maximum?: number };
  readonly sizes?: readonly string[];
  readonly ratios?: readonly string[];
  readonly resolutions?: readonly string[];
  readonly references: number;
}

const refused = (param: string, message: string) => new GatewayError('invalid_value', message, { param });

function checkListed(param: string, value: string | null, allowed: readonly string[] | undefined): void {
  if (value === null || allowed === undefined || allowed.includes(value)) return;
  throw refused(param, `\`${param}\` ${quoted(value)} is not supported by this model. Allowed: ${allowed.join(', ')}.`);
}

function secondsFor(asked: number | null, { allowed, default: usual, maximum }: NonNullable<Rules['seconds']>): number {
  if (asked === null) return usual ?? allowed?.[0] ?? standardSeconds;
  if (allowed !== undefined && !allowed.includes(asked))
    throw refused('seconds', `\`seconds\` ${asked} is not supported by this model. Allowed: ${allowed.join(', ')}.`);
  if (maximum !== undefined && asked > maximum)
    throw refused('seconds', `\`seconds\` ${asked} is too long for this model: at most ${maximum}.`);
  return asked;
}

/** A size of another shape than the ratio: nobody could tell which one is meant. */
function refuseConflict({ size, aspectRatio }: VideoRequest): void {
  if (size === null || aspectRatio === null) return;
  const pixels = parsePixelSize(size);
  try {
    compileNearestRatio([aspectRatio])(pixels);
  } catch {
    throw new GatewayError('conflicting_parameters', '`size` and `aspect_ratio` contradict each other.', {
      param: 'aspect_ratio',
    });
  }
}

function normalize(call: VideoCall, rules: Rules): void {
  const { request } = call;
  const seconds = secondsFor(request.seconds, rules.seconds ?? {});
  refuseConflict(request);
  checkListed('size', request.size, rules.sizes);
  checkListed('aspect_ratio', request.aspectRatio, rules.ratios);
  checkListed('resolution', request.resolution, rules.resolutions);
  if (request.references.length > rules.references) {
    const message = `${request.references.length} reference images were sent; this model accepts at most ${rules.references}.`;
    throw new GatewayError('too_many_images', message, { param: 'input_reference' });
  }
  call.request = { ...request, seconds };
}

const list = (description: string, pattern: string, expected: string) =>
  ({
    type: 'array',
    description,
    items: { type: 'string', pattern, 'x-expected': expected },
    minItems: 1,
    uniqueItems: true,
  }) as const;

/** What a list leaves out is refused with 400 before anything is held; without a list the vendor judges. */
export default defineNormalizer({
  name: 'video',
  summary: 'Seconds, sizes, ratios, resolutions and references that a video model takes.',
  rules: {
    type: 'object',
    additionalProperties: false,
    properties: {
      seconds: {
        type: 'object',
        description: 'How long a video may be; it is priced by the second.',
        additionalProperties: false,
        properties: {
          allowed: {
            type: 'array',
            description: 'The only lengths there are.',
            items: { type: 'number', exclusiveMinimum: 0 },
            minItems: 1,
          },
          default: { type: 'number', description: 'Made where the client says nothing.', exclusiveMinimum: 0 },
          maximum: { type: 'number', description: 'The longest, where there is no list.', exclusiveMinimum: 0 },
        },
      },
      sizes: list('Allowed values of `size`.', '^\\d+x\\d+$', 'pixels such as 1280x720'),
      ratios: list('Allowed values of `aspect_ratio`.', '^\\d+(\\.\\d+)?:\\d+(\\.\\d+)?$', 'a ratio such as 16:9'),
      resolutions: list('Allowed values of `resolution`.', '^\\w+$', 'a resolution such as 720p'),
      references: {
        type: 'integer',
        description: 'Reference images at most.',
        minimum: 0,
        maximum: 16,
        default: 1,
      },
    },
  },
  compile(rules) {
    const { seconds } = rules;
    if (seconds?.default !== undefined && seconds.allowed !== undefined)
      requireListed('seconds.default', String(seconds.default), seconds.allowed.map(String));
    return (exchange) => {
      if (exchange.call?.kind === 'video') normalize(exchange.call, rules);
    };
  },
});
