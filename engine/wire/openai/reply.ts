/** What whole replies, chunks and errors of OpenAI's chat and completions have in common. */
import type { ChatEvent, FinishReason } from '../../contract/chat.ts';
import type { JsonObject, JsonValue } from '../../contract/values.ts';
import type { SseFrame } from '../../contract/wire.ts';
import type { GatewayError } from '../../errors.ts';
import { eventObject, reportedError, unusable } from '../vendor-error.ts';
import { isObject } from './fields.ts';
import { readOpenAiError, readOpenAiUsage } from './usage.ts';

type StartEvent = Extract<ChatEvent, { type: 'start' }>;

export interface OpenAiChoice {
  readonly index: number;
  readonly value: JsonObject;
}

/** `{"error":{message,type,param,code}}`; the message ends with the request id (spec 7). */
export function openAiError(error: GatewayError, requestId: string) {
  const message = `${error.message} (request id: ${requestId})`;
  return { error: { message, type: error.type, param: error.param, code: error.shownCode } };
}

/** The same as a frame within a stream: SDKs throw at a `data:` object that has an `error`. */
export function openAiStreamError(error: GatewayError, requestId: string): string {
  return `data: ${JSON.stringify(openAiError(error, requestId))}\n\n`;
}

export function readStart(value: JsonObject): StartEvent {
  const { id, model, created } = value;
  return {
    type: 'start',
    id: typeof id === 'string' ? id : '',
    model: typeof model === 'string' ? model : '',
    created: typeof created === 'number' && Number.isSafeInteger(created) && created > 0 ? created : 0,
  };
}

/** The entries that are objects; one without a usable `index` counts by its place. */
function readChoices(value: JsonObject): OpenAiChoice[] {
  if (!Array.isArray(value.choices)) return [];
  return value.choices.flatMap((choice, place) =>
    isObject(choice) ? [{ index: readIndex(choice.index, place), value: choice }] : [],
  );
}

export function readIndex(value: JsonValue | undefined, place: number): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : place;
}

/** Throws `upstream_invalid_response` for anything that is no reply with choices. */
export function readWhole(body: JsonValue): { readonly value: JsonObject; readonly choices: OpenAiChoice[] } {
  if (!isObject(body)) throw unusable('the answer is no object');
  const choices = readChoices(body);
  if (choices.length === 0) throw unusable('the answer has no choices');
  return { value: body, choices };
}

export function usageEvents(value: JsonObject): ChatEvent[] {
  const usage = readOpenAiUsage(value.usage);
  return usage === null ? [] : [{ type: 'usage', usage }];
}

/** Words this table does not know count as an ordinary end. */
const finishReasons: Readonly<Record<string, FinishReason>> = {
  length: 'length',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'content-filter',
};

export function readFinish(value: JsonValue | undefined): FinishReason {
  return typeof value === 'string' && Object.hasOwn(finishReasons, value) ? finishReasons[value]! : 'stop';
}

/**
 * Reads a stream of chunks: one `start`, what `readChoice` finds, one `finish` a choice, usage, errors.
 * Throws `upstream_invalid_response` for a frame that is no JSON object.
 */
export function decodeChunks(readChoice: (choice: OpenAiChoice) => ChatEvent[]): (frame: SseFrame) => ChatEvent[] {
  let started = false;
  const finished = new Set<number>();
  const finish = ({ index, value }: OpenAiChoice): ChatEvent[] => {
    // Some vendors send an empty word until the last.
    if (typeof value.finish_reason !== 'string' || value.finish_reason === '' || finished.has(index)) return [];
    finished.add(index);
    return [{ type: 'finish', choice: index, reason: readFinish(value.finish_reason) }];
  };
  return (frame) => {
    if (frame.data === '[DONE]') return [];
    const chunk = eventObject(frame.data);
    const failure = readOpenAiError(chunk);
    if (failure !== null) return [{ type: 'error', error: reportedError(failure) }];
    const events: ChatEvent[] = started ? [] : [readStart(chunk)];
    started = true;
    const choices = readChoices(chunk);
    // Usage within the last content chunk must be known before its finish is written.
    return [...events, ...choices.flatMap(readChoice), ...usageEvents(chunk), ...choices.flatMap(finish)];
  };
}
