/** A vendor's answer as events: the same for a whole one and for each piece of a stream. */
import {
  type ChatEvent,
  GatewayError,
  isObject,
  type JsonObject,
  type JsonValue,
  madeId,
  readIndex,
  signedBy,
} from '../../../engine/plugin.ts';
import { blockReason, objectsIn, partsIn, usageIn } from './answer-facts.ts';
import { protocolName } from './fields.ts';
import { isBotched, readFinish } from './finish.ts';

interface OpenChoice {
  /** It said, called or drew something. */
  said: boolean;
  calls: number;
  finished: boolean;
}

const text = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');

export class AnswerReader {
  private started = false;
  private readonly choices = new Map<number, OpenChoice>();

  read(answer: JsonObject): ChatEvent[] {
    const events: ChatEvent[] = [];
    if (!this.started)
      events.push({ type: 'start', id: text(answer.responseId), model: text(answer.modelVersion), created: 0 });
    this.started = true;
    const candidates = objectsIn(answer.candidates).map((value, place) => ({
      index: readIndex(value.index, place),
      value,
    }));
    for (const { index, value } of candidates) {
      for (const part of partsIn(value)) events.push(...this.readPart(index, part));
    }
    events.push(...usageEvents(answer), ...blockedEvents(answer));
    for (const { index, value } of candidates) events.push(...this.readEnd(index, text(value.finishReason)));
    return events;
  }

  private choice(index: number): OpenChoice {
    const known = this.choices.get(index) ?? { said: false, calls: 0, finished: false };
    this.choices.set(index, known);
    return known;
  }

  private readPart(choice: number, part: JsonObject): ChatEvent[] {
    const given = text(part.thoughtSignature);
    const signature = given === '' ? {} : { signature: signedBy(protocolName, given) };
    if (part.thought === true) return thoughtEvents(choice, part, signature);
    const state = this.choice(choice);
    const events = isObject(part.functionCall)
      ? callEvents(choice, state.calls++, part.functionCall, signature)
      : [...saidEvents(choice, part), ...thoughtEvents(choice, {}, signature)];
    if (events.length > 0) state.said = true;
    return events;
  }

  private readEnd(choice: number, word: string): ChatEvent[] {
    const state = this.choice(choice);
    if (word === '' || word === 'FINISH_REASON_UNSPECIFIED' || state.finished) return [];
    state.finished = true;
    if (isBotched(word) && !state.said) {
      const message = `The vendor’s model ended without an answer (${word}).`;
      return [{ type: 'error', error: new GatewayError('upstream_invalid_response', message) }];
    }
    return [{ type: 'finish', choice, reason: readFinish(word, state.calls > 0) }];
  }
}

/** Interim pictures of a model that draws are thoughts too: they are not shown. */
function thoughtEvents(choice: number, part: JsonObject, signature: { readonly signature?: string }): ChatEvent[] {
  const said = text(part.text);
  return said === '' && signature.signature === undefined
    ? []
    : [{ type: 'reasoning', choice, text: said, ...signature }];
}

function saidEvents(choice: number, { text: said, inlineData }: JsonObject): ChatEvent[] {
  if (typeof said === 'string') return said === '' ? [] : [{ type: 'text', choice, text: said }];
  if (!isObject(inlineData)) return [];
  const mediaType = text(inlineData.mimeType);
  const data = text(inlineData.data);
  return mediaType.startsWith('image/') && data !== '' ? [{ type: 'image', choice, mediaType, data }] : [];
}

/** Models of the second generation give their calls no ids. */
function callEvents(
  choice: number,
  index: number,
  call: JsonObject,
  signature: { readonly signature?: string },
): ChatEvent[] {
  const id = text(call.id) || madeId('call_');
  return [
    { type: 'tool-call', choice, index, id, name: text(call.name), ...signature },
    { type: 'tool-arguments', choice, index, text: JSON.stringify(call.args ?? {}) },
  ];
}

function usageEvents(answer: JsonObject): ChatEvent[] {
  const usage = usageIn(answer);
  return usage === null ? [] : [{ type: 'usage', usage }];
}

/** A prompt that was blocked has no candidates: it is a refusal, and says why. */
function blockedEvents(answer: JsonObject): ChatEvent[] {
  const reason = blockReason(answer);
  if (reason === '' || objectsIn(answer.candidates).length > 0) return [];
  return [
    { type: 'refusal', choice: 0, text: `The prompt was blocked by the vendor’s safety system (${reason}).` },
    { type: 'finish', choice: 0, reason: 'content-filter' },
  ];
}
