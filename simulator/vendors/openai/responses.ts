import { jsonAnswer, nextId } from '../../answers.ts';
import type { Answer, Call } from '../../contract.ts';
import { readSteering } from '../../steering.ts';
import { openaiHeaders, refuse } from './errors.ts';
import { answerPage } from './page.ts';
import { answerCompact, answerInputTokens } from './responses-compact.ts';
import { streamResponse } from './responses-events.ts';
import { type Item, isUser, textOf } from './responses-items.ts';
import { describeEnd, describeOpening } from './responses-object.ts';
import type { Question } from './responses-outcome.ts';
import { produce } from './responses-produce.ts';
import { readResponsesRequest } from './responses-request.ts';
import { accountOf, findResponse, forgetResponse, keepResponse, type StoredResponse } from './responses-state.ts';
import { readConversation } from './responses-turns.ts';

/** Everything below `/v1/responses`. */
export function answerResponses(call: Call): Answer {
  const [, id, rest = ''] = /^\/v1\/responses(?:\/([^/]+))?(\/.*)?$/.exec(call.path) ?? [];
  const route = `${call.method} ${id === undefined || COLLECTION.includes(id) ? (id ?? '') : ':id'}${rest}`;
  const answer = Object.hasOwn(ROUTES, route) ? ROUTES[route] : undefined;
  if (answer) return answer(call, id ?? '');
  const known = Object.keys(ROUTES).some((name) => name.split(' ')[1] === route.split(' ')[1]);
  return known
    ? refuse(405, { message: `Not allowed to ${call.method} on ${call.path}.`, code: 'method_not_supported' })
    : refuse(404, { message: `Invalid URL (${call.method} ${call.path})`, code: 'unknown_url' });
}

const COLLECTION = ['compact', 'input_tokens'];

const ROUTES: Record<string, (call: Call, id: string) => Answer> = {
  'POST ': createResponse,
  'POST compact': answerCompact,
  'POST input_tokens': answerInputTokens,
  'GET :id': answerStored,
  'DELETE :id': deleteStored,
  'GET :id/input_items': answerInputItems,
  'POST :id/cancel'(call, id) {
    storedFor(call, id);
    return refuse(400, { message: 'Cannot cancel a synchronous response.' });
  },
};

function createResponse(call: Call): Answer {
  const { request, model } = readResponsesRequest(call);
  const conversation = readConversation(request, call);
  const prompt = textOf(conversation.findLast(isUser)?.content);
  const question: Question = { call, request, model, conversation, prompt, steering: readSteering(prompt) };
  const outcome = produce(question);
  const opening = describeOpening(question);
  const end = describeEnd(opening, outcome, question);
  if (request.store !== false)
    keepResponse(call, {
      account: accountOf(call),
      value: end,
      images: outcome.images,
      input: request.input.filter(({ type }) => type !== 'item_reference').map(identified),
      conversation: [...conversation, ...end.output],
    });
  if (request.stream) return streamResponse(opening, end, outcome, question);
  return jsonAnswer(200, end, openaiHeaders(), outcome.images);
}

const ID_PREFIXES: Record<string, string> = {
  message: 'msg_',
  function_call: 'fc_',
  reasoning: 'rs_',
  compaction: 'cmp_',
};

/** Input items get ids when they are stored. */
const identified = (item: Item): Item => ({ id: nextId(ID_PREFIXES[item.type] ?? 'item_'), ...item });

function storedFor(call: Call, id: string): StoredResponse {
  return findResponse(call, id) ?? refuse(404, { message: `Response with id '${id}' not found.` });
}

function answerStored(call: Call, id: string): Answer {
  const { value, images } = storedFor(call, id);
  if (call.query.get('stream') === 'true')
    return refuse(400, { message: 'Only background responses can be streamed again.', param: 'stream' });
  return jsonAnswer(200, value, openaiHeaders(), images);
}

function deleteStored(call: Call, id: string): Answer {
  forgetResponse(call, storedFor(call, id));
  return jsonAnswer(200, { id, object: 'response', deleted: true }, openaiHeaders());
}

function answerInputItems(call: Call, id: string): Answer {
  return answerPage(call, storedFor(call, id).input as readonly (Item & { id: string })[]);
}
