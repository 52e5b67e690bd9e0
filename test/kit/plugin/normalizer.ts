import type { Exchange, ImageCall, JsonObject, NormalizerDefinition } from '../../../engine/plugin.ts';
import { createExchange, type ExchangeGiven } from './exchange.ts';
import { asRefusal, type Refusal } from './refusal.ts';
import { checkedOptions } from './schema.ts';

export interface Normalized {
  readonly exchange: Exchange;
  readonly refusal: Refusal | null;
  readonly settings: ImageCall['settings'] | null;
  readonly claims: ImageCall['claims'];
}

/** Compiles a family's rules; the answer runs a request of `openai-images` (or another protocol) through them. */
export function openNormalizer(definition: NormalizerDefinition, rules: JsonObject = {}) {
  const { offer } = createExchange();
  const run = definition.compile(checkedOptions(definition.name, definition.rules, rules), offer!.model);
  return (given: ExchangeGiven = {}): Normalized => {
    const exchange = createExchange({ protocol: 'openai-images', ...given });
    let refusal: Refusal | null = null;
    try {
      run(exchange);
    } catch (thrown) {
      refusal = asRefusal(thrown);
    }
    const call = exchange.call?.kind === 'image' ? exchange.call : null;
    return { exchange, refusal, settings: call?.settings ?? null, claims: call?.claims ?? [] };
  };
}
