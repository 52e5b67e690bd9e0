/** The relay of protocols that are OpenAI's or its close kin: model replaced, usage asked for, bytes otherwise untouched. */
import type { ChatCall, ChatRelay } from '../../contract/chat.ts';
import type { JsonObject, JsonValue } from '../../contract/values.ts';
import { withVendorModel } from '../vendor-model.ts';
import { OpenAiTap } from './tap.ts';
import { readOpenAiError, readOpenAiUsage } from './usage.ts';

/** `outputText` reads what a choice of a whole reply says, for an estimate where usage is missing. */
export function openAiRelay(outputText: (choice: JsonObject) => string): ChatRelay {
  return {
    request(body, call, vendorModel, overrides) {
      const addsUsage = call.stream && !call.wantsUsage;
      const own = addsUsage ? { stream_options: withUsage(call.body.stream_options) } : null;
      return withVendorModel(body, call.model, vendorModel, overrides, own);
    },
    reply(body) {
      const value = JSON.parse(body.toString('utf8')) as JsonValue;
      const error = readOpenAiError(value);
      if (error !== null) return { usage: null, error, estimatedOutput: 0 };
      const choices = choicesOf(value);
      if (choices === null) throw new Error('the answer has no choices');
      const usage = readOpenAiUsage((value as JsonObject).usage);
      return { usage, error: null, estimatedOutput: usage === null ? estimate(choices, outputText) : 0 };
    },
    stream: (call: ChatCall) => new OpenAiTap(!call.wantsUsage),
  };
}

function withUsage(options: JsonValue | undefined): JsonObject {
  const given = typeof options === 'object' && options !== null && !Array.isArray(options) ? options : {};
  return { ...given, include_usage: true };
}

function choicesOf(value: JsonValue): JsonValue[] | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return Array.isArray(value.choices) && value.choices.length > 0 ? value.choices : null;
}

/** Four characters are about one token. */
function estimate(choices: readonly JsonValue[], outputText: (choice: JsonObject) => string): number {
  let characters = 0;
  for (const choice of choices) {
    if (typeof choice === 'object' && choice !== null && !Array.isArray(choice))
      characters += outputText(choice).length;
  }
  return Math.ceil(characters / 4);
}
