import { countTokens } from '../../reply-text.ts';
import { type Item, isCall, isOutput, textOf } from './responses-items.ts';
import type { ResponsesRequest } from './responses-request.ts';

const TOKENS_PER_MESSAGE = 4;
const IMAGE_TOKENS = 85;

/** Input: 4 an item with text, 1 per 4 characters of text, calls and the tools' JSON, 85 an image. */
export function inputTokens(conversation: readonly Item[], request: Partial<ResponsesRequest>): number {
  const { instructions, tools } = request;
  const instructed = instructions === undefined ? 0 : TOKENS_PER_MESSAGE + countTokens(instructions);
  const declared = tools && tools.length > 0 ? countTokens(JSON.stringify(tools)) : 0;
  return conversation.reduce((sum, item) => sum + itemTokens(item), instructed + declared);
}

function itemTokens(item: Item): number {
  if (item.type === 'message') return contentTokens(item.content);
  if (isOutput(item)) return contentTokens(item.output);
  if (isCall(item)) return TOKENS_PER_MESSAGE + countTokens(`${item.name}${item.arguments ?? item.input}`);
  return TOKENS_PER_MESSAGE;
}

function contentTokens(content: unknown): number {
  const parts: { type?: string }[] = Array.isArray(content) ? content : [];
  const images = parts.filter(({ type }) => type === 'input_image').length;
  return TOKENS_PER_MESSAGE + countTokens(textOf(content)) + images * IMAGE_TOKENS;
}

/** Usage as responses report it; `cached` is what the prompt steers. */
export function usageOf(input: number, output: number, cached: number, reasoning: number): object {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: Math.min(cached, input), cache_write_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}
