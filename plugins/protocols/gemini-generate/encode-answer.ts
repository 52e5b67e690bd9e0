/** Pieces of an answer as Gemini writes them. */
import {
  type ChatCall,
  type ChatEvent,
  type FinishReason,
  isObject,
  type JsonObject,
  madeId,
  type TokenUsage,
  writeGoogleUsage,
} from '../../../engine/plugin.ts';
import { writeFinish } from './finish.ts';
import { geminiSignature, shownSignature } from './signature.ts';

type StartEvent = Extract<ChatEvent, { type: 'start' }>;
type SaidEvent = Extract<ChatEvent, { type: 'text' | 'reasoning' | 'refusal' | 'image' }>;

/** Members of every answer; what the vendor did not say is made up. */
export const headOf = (start: StartEvent | null, call: ChatCall): JsonObject => ({
  modelVersion: start?.model || call.model,
  responseId: start?.id || madeId(''),
});

export const usageOf = (usage: TokenUsage | null): JsonObject =>
  usage === null ? {} : { usageMetadata: writeGoogleUsage(usage) };

export const contentOf = (parts: readonly JsonObject[]): JsonObject => ({ parts: [...parts], role: 'model' });

/** A part that says something. */
export function encodeSaid(event: SaidEvent): JsonObject {
  switch (event.type) {
    case 'text':
    case 'refusal':
      return { text: event.text };
    case 'image':
      return { inlineData: { mimeType: event.mediaType, data: event.data } };
    case 'reasoning':
      return encodeThought(event.text, event.signature);
  }
}

/** A signature of Gemini's own that stands alone belongs to no thought but to the answer. */
function encodeThought(text: string, signature: string | undefined): JsonObject {
  if (signature === undefined) return { text, thought: true };
  const thoughtSignature = shownSignature(signature);
  const isAlone = text === '' && geminiSignature(signature) !== null;
  return isAlone ? { text, thoughtSignature } : { text, thought: true, thoughtSignature };
}

interface OpenCall {
  readonly id: string;
  readonly name: string;
  readonly signature: string | undefined;
  arguments: string;
}

/** The calls of one choice: Gemini shows a call only whole. */
export class OpenCalls {
  private readonly calls = new Map<number, OpenCall>();

  take(event: Extract<ChatEvent, { type: 'tool-call' | 'tool-arguments' }>): void {
    if (event.type === 'tool-call') {
      const { id, name, signature, index } = event;
      this.calls.set(index, { id, name, signature, arguments: '' });
      return;
    }
    const call = this.calls.get(event.index);
    if (call !== undefined) call.arguments += event.text;
  }

  /** The parts of the calls that came whole; `broken`: the arguments of some are no JSON object. */
  encode(): { readonly parts: JsonObject[]; readonly broken: boolean } {
    const parts = [...this.calls.values()].flatMap(encodeCall);
    return { parts, broken: parts.length < this.calls.size };
  }
}

function encodeCall({ id, name, signature, arguments: text }: OpenCall): JsonObject[] {
  const args = argumentsOf(text);
  if (args === null) return [];
  const thoughtSignature = signature === undefined ? {} : { thoughtSignature: shownSignature(signature) };
  return [{ functionCall: { id, name, args }, ...thoughtSignature }];
}

function argumentsOf(text: string): JsonObject | null {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** A call that broke off at the limit of tokens is no malformed one. */
export const finishWord = (reason: FinishReason, broken: boolean): string =>
  broken && reason !== 'length' ? 'MALFORMED_FUNCTION_CALL' : writeFinish(reason);
