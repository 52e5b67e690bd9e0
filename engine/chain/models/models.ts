/**
 * `GET /v1/models` and `GET /v1/models/{model}`: what the caller may use (spec 2.10, 4.5), in the form that its client
 * reads.
 */
import type { Exchange } from '../../contract/exchange.ts';
import type { Model } from '../../contract/model.ts';
import type { JsonObject } from '../../contract/values.ts';
import { GatewayError } from '../../errors.ts';
import type { LocalReply } from '../../plugin.ts';
import { anthropicError } from '../../wire/anthropic/error.ts';
import { googleError } from '../../wire/google/error.ts';
import { openAiError } from '../../wire/openai/reply.ts';
import type { ReplyForm } from '../compiled-route.ts';
import { anthropicModel, anthropicModelList, versionHeader } from './anthropic.ts';
import { geminiModel, geminiModelList } from './gemini.ts';

/** Headers of the client that tell its form. */
export const modelsHeaders: readonly string[] = [versionHeader];

interface ModelsForm {
  list(models: readonly Model[], exchange: Exchange): JsonObject;
  show(model: Model): JsonObject;
  encodeError(error: GatewayError, requestId: string): JsonObject;
}

const openAiModel = ({ name, created, ownedBy }: Model): JsonObject => ({
  id: name,
  object: 'model',
  created,
  owned_by: ownedBy,
});

const openAiForm: ModelsForm = {
  list: (models) => ({ object: 'list', data: models.map(openAiModel) }),
  show: openAiModel,
  encodeError: openAiError,
};
const geminiForm: ModelsForm = { list: geminiModelList, show: geminiModel, encodeError: googleError };
const anthropicForm: ModelsForm = { list: anthropicModelList, show: anthropicModel, encodeError: anthropicError };

/** By the route's own protocol, else by where the client puts its key. */
function formFor({ route, headers, query }: Exchange): ModelsForm {
  if (route.protocol === 'gemini-models') return geminiForm;
  if (headers[versionHeader]) return anthropicForm;
  if (headers.authorization) return openAiForm;
  if (headers['x-api-key']) return anthropicForm;
  return headers['x-goog-api-key'] || new URLSearchParams(query).has('key') ? geminiForm : openAiForm;
}

/** Errors, from the key on, in the form that the list would have. */
export const modelsForm: ReplyForm = {
  encodeError: (error, requestId, exchange) =>
    (exchange === undefined ? openAiForm : formFor(exchange)).encodeError(error, requestId),
  requestIdHeader: 'request-id',
};

/** Visible: the group offers it, the key's allowlist has it, and at least one channel serves it. */
function isVisible(exchange: Exchange, name: string): boolean {
  const { key, group } = exchange.principal!;
  const offer = group.offers.get(name);
  return offer !== undefined && offer.tiers.length > 0 && (key.models === null || key.models.has(name));
}

export function listModels(exchange: Exchange): LocalReply {
  const offers = [...exchange.principal!.group.offers.values()];
  const models = offers.map((offer) => offer.model).filter(({ name }) => isVisible(exchange, name));
  return { status: 200, body: JSON.stringify(formFor(exchange).list(models, exchange)) };
}

/** 404 for a model that is unknown and for one the key may not see: the answer does not tell which. */
export function showModel(exchange: Exchange): LocalReply {
  const name = decoded(exchange.parameter);
  if (!isVisible(exchange, name)) {
    throw new GatewayError(
      'model_not_found',
      `The model \`${name.slice(0, 120)}\` does not exist. See GET /v1/models.`,
      { param: 'model' },
    );
  }
  const { model } = exchange.principal!.group.offers.get(name)!;
  return { status: 200, body: JSON.stringify(formFor(exchange).show(model)) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
