/** Which prices make sense for what a model can be used for. */
import type { Price } from '../contract/model.ts';
import type { Operation } from '../contract/operations.ts';

type PriceKind = keyof Price;

interface Pricing {
  /** For a sentence: `a model for chat`. */
  readonly use: string;
  readonly kinds: readonly PriceKind[];
  /** One of these sets must be there whole; `request` always does instead. */
  readonly needs: readonly (readonly PriceKind[])[];
}

const tokens: readonly PriceKind[] = ['input', 'cachedInput', 'cacheWrite', 'output', 'reasoning'];
const audioTokens: readonly PriceKind[] = [...tokens, 'audioInput', 'audioOutput'];

const images: Pricing = { use: 'images', kinds: ['image'], needs: [['image']] };
const transcripts: Pricing = {
  use: 'audio',
  kinds: ['second', ...audioTokens],
  needs: [['second'], ['input', 'output']],
};

const pricings: Readonly<Partial<Record<Operation, Pricing>>> = {
  // A chat model may have a tool that draws.
  chat: { use: 'chat', kinds: [...audioTokens, 'image'], needs: [['input', 'output']] },
  'images.generate': images,
  'images.edit': images,
  'videos.create': { use: 'videos', kinds: ['second'], needs: [['second']] },
  embeddings: { use: 'embeddings', kinds: ['input'], needs: [['input']] },
  rerank: { use: 'rerank', kinds: ['searchUnit', 'input'], needs: [['searchUnit'], ['input']] },
  // Vendors answer it for nothing.
  moderations: { use: 'moderations', kinds: ['input'], needs: [[]] },
  'audio.transcriptions': transcripts,
  'audio.translations': transcripts,
  'audio.speech': {
    use: 'speech',
    kinds: ['character', ...audioTokens],
    needs: [['character'], ['input', 'output']],
  },
  // Some transcripts within a session are priced by the second.
  realtime: { use: 'realtime', kinds: ['second', ...audioTokens], needs: [['input', 'output']] },
};

export interface PriceProblem {
  /** Null: about the price as a whole. */
  readonly kind: PriceKind | null;
  readonly message: string;
}

const quotedList = (kinds: readonly PriceKind[]): string => kinds.map((kind) => `"${kind}"`).join(' and ');

/** `the prices "input" and "output", or "request"` */
function wanted({ needs }: Pricing): string {
  const [only] = needs;
  if (needs.length === 1 && only?.length === 1) return `a price ${quotedList(only)} or "request"`;
  return `the prices ${[...needs.map(quotedList), '"request"'].join(', or ')}`;
}

/** What is wrong with a price; empty where nothing is. */
export function checkPrice(price: Price, operations: readonly Operation[]): PriceProblem[] {
  const problems: PriceProblem[] = [];
  const uses = [...new Set(operations.flatMap((operation) => pricings[operation] ?? []))];
  const known = new Set<PriceKind>(['request', ...uses.flatMap(({ kinds }) => kinds)]);
  for (const kind of Object.keys(price) as PriceKind[]) {
    if (!known.has(kind)) problems.push({ kind, message: `a model for ${operations.join(', ')} is not priced by it` });
  }
  if (price.request !== undefined) return problems;
  for (const pricing of uses) {
    if (pricing.needs.some((set) => set.every((kind) => price[kind] !== undefined))) continue;
    problems.push({ kind: null, message: `a model for ${pricing.use} needs ${wanted(pricing)}` });
  }
  return problems;
}
