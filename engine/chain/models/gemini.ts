/** The model list as Gemini's clients read it: `models/` before each name, pages, methods by what a model can do. */
import type { Exchange } from '../../contract/exchange.ts';
import type { Model } from '../../contract/model.ts';
import { isCapable } from '../../contract/operations.ts';
import type { JsonObject } from '../../contract/values.ts';
import { GatewayError } from '../../errors.ts';

const prefix = 'models/';
const usualPage = 50;
const largestPage = 1000;

function methodsOf({ operations }: Model): string[] {
  if (isCapable(operations, 'chat')) return ['generateContent', 'countTokens'];
  const draws = isCapable(operations, 'images.generate') || isCapable(operations, 'images.edit');
  return draws ? ['generateContent'] : [];
}

export function geminiModel(model: Model): JsonObject {
  return {
    name: `${prefix}${model.name}`,
    version: '1',
    displayName: model.name,
    ...(model.maxOutputTokens === null ? {} : { outputTokenLimit: model.maxOutputTokens }),
    supportedGenerationMethods: methodsOf(model),
  };
}

/** `?pageSize=&pageToken=`: a token is the place of the first model of its page. */
export function geminiModelList(models: readonly Model[], { query }: Exchange): JsonObject {
  const parameters = new URLSearchParams(query);
  const size = Math.min(numberIn(parameters, 'pageSize') || usualPage, largestPage);
  const start = numberIn(parameters, 'pageToken');
  const rest = start + size < models.length ? { nextPageToken: String(start + size) } : {};
  return { models: models.slice(start, start + size).map(geminiModel), ...rest };
}

/** 0 where it is not said. */
function numberIn(parameters: URLSearchParams, param: string): number {
  const text = parameters.get(param) ?? '';
  if (/^\d{0,9}$/.test(text)) return Number(text);
  throw new GatewayError('invalid_value', `\`${param}\` must be a whole number from 0 on.`, { param });
}
