/** Which prices make sense for what a model can be used for. */
import type { Operation, Price } from '../contract/model.ts';

type PriceKind = keyof Price;

const imageKinds: readonly PriceKind[] = ['image', 'request'];
const chatKinds: readonly PriceKind[] = ['request', 'input', 'cachedInput', 'cacheWrite', 'output', 'reasoning'];

const isImage = (operation: Operation): boolean => operation.startsWith('images.');

export interface PriceProblem {
  /** Null: about the price as a whole. */
  readonly kind: PriceKind | null;
  readonly message: string;
}

/** What is wrong with a price; empty where nothing is. */
export function checkPrice(price: Price, operations: readonly Operation[]): PriceProblem[] {
  const problems: PriceProblem[] = [];
  const image = operations.some(isImage);
  const chat = operations.includes('chat');
  const known = [...(image ? imageKinds : []), ...(chat ? chatKinds : [])];
  const use = operations.join(', ');
  for (const kind of Object.keys(price) as PriceKind[]) {
    if (!known.includes(kind)) problems.push({ kind, message: `a model for ${use} is not priced by it` });
  }
  if (price.request !== undefined) return problems;
  if (image && price.image === undefined) {
    problems.push({ kind: null, message: 'a model for images needs a price "image" or "request"' });
  }
  if (chat && (price.input === undefined || price.output === undefined)) {
    problems.push({ kind: null, message: 'a model for chat needs the prices "input" and "output", or "request"' });
  }
  return problems;
}
