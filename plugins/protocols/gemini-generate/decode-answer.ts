/** A vendor's answer, whole or streamed. Throws `upstream_invalid_response` where it is none. */
import {
  type ChatEvent,
  isObject,
  type JsonObject,
  type JsonValue,
  readGoogleError,
  reportedError,
  type SseFrame,
  unusable,
} from '../../../engine/plugin.ts';
import { hasAnswer } from './answer-facts.ts';
import { AnswerReader } from './answer-reader.ts';

export function decodeReply(body: JsonValue): ChatEvent[] {
  const answer = answerIn(body);
  if (!hasAnswer(answer)) throw unusable('the answer has no candidates');
  const events = new AnswerReader().read(answer);
  for (const event of events) if (event.type === 'error') throw event.error;
  return events;
}

/** Some of Google's services wrap what they answer in a list. */
export function answerIn(body: JsonValue): JsonObject {
  const value = Array.isArray(body) ? body[0] : body;
  if (!isObject(value)) throw unusable('the answer is no object');
  return value;
}

export function decodeStream(): (frame: SseFrame) => ChatEvent[] {
  const reader = new AnswerReader();
  return ({ data }) => {
    const value = parsed(data);
    const failure = readGoogleError(value);
    return failure === null ? reader.read(answerIn(value)) : [{ type: 'error', error: reportedError(failure) }];
  };
}

function parsed(data: string): JsonValue {
  try {
    return JSON.parse(data) as JsonValue;
  } catch {
    throw unusable('an event of the stream is not JSON');
  }
}
