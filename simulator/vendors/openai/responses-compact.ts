import { epochSeconds, jsonAnswer, nextId } from '../../answers.ts';
import type { Answer, Call } from '../../contract.ts';
import { readSteering } from '../../steering.ts';
import { openaiHeaders } from './errors.ts';
import { type Item, isUser, textOf } from './responses-items.ts';
import { COMPACT_FIELDS, COUNTED_FIELDS, readResponsesRequest } from './responses-request.ts';
import { encrypt } from './responses-state.ts';
import { inputTokens, usageOf } from './responses-tokens.ts';
import { readConversation } from './responses-turns.ts';

const SUMMARY_TOKENS = 32;

/** `POST /v1/responses/compact`: user messages stay, all else becomes one opaque item. */
export function answerCompact(call: Call): Answer {
  const { request } = readResponsesRequest(call, COMPACT_FIELDS);
  const conversation = readConversation(request, call);
  const kept = conversation.filter(isUser);
  const steering = readSteering(textOf(kept.at(-1)?.content));
  const id = nextId('cmp_');
  const compaction = { id, type: 'compaction', encrypted_content: encrypt(call, 'compaction', id) };
  const output = [...kept.map(keptMessage), compaction];
  const tokens = (steering.tokens ?? SUMMARY_TOKENS) + steering.reasoning;
  const usage = usageOf(inputTokens(conversation, request), tokens, steering.cached, steering.reasoning);
  const value = { id: nextId('resp_'), object: 'response.compaction', created_at: epochSeconds(), output };
  return jsonAnswer(200, { ...value, ...(call.fault.nousage ? {} : { usage }) }, openaiHeaders());
}

const keptMessage = (item: Item): Item => ({ id: nextId('msg_'), status: 'completed', ...item });

/** `POST /v1/responses/input_tokens`. */
export function answerInputTokens(call: Call): Answer {
  const { request } = readResponsesRequest(call, COUNTED_FIELDS);
  const input_tokens = inputTokens(readConversation(request, call), request);
  return jsonAnswer(200, { object: 'response.input_tokens', input_tokens }, openaiHeaders());
}
