/** A neutral request for a vendor that speaks only text completions. */
import {
  type ChatRequest,
  type JsonObject,
  openAiTakesStop,
  present,
  takeExtra,
  unsupported,
} from '../../../engine/plugin.ts';
import { protocolName } from './fields.ts';
import { renderPrompt } from './render-prompt.ts';

/** Throws `unsupported_parameter` for what a text prompt cannot say. */
export function encodeRequest(request: ChatRequest, vendorModel: string): JsonObject {
  refuseInexpressible(request);
  const { prompt, stop } = renderPrompt(request.messages);
  return {
    ...takeExtra(request.extra, protocolName, ['logit_bias']),
    model: vendorModel,
    prompt,
    ...present({
      max_tokens: request.maxOutputTokens,
      temperature: request.temperature,
      top_p: request.topP,
      top_k: request.topK,
      n: request.choices,
      stop: withOwnStop(request.stop, stop),
      seed: request.seed,
      presence_penalty: request.presencePenalty,
      frequency_penalty: request.frequencyPenalty,
      user: request.user,
    }),
    ...(request.stream ? { stream: true, stream_options: { include_usage: true } } : {}),
  };
}

/** The end of the assistant's turn, where the vendor takes one more. */
function withOwnStop(asked: readonly string[], own: string | null): string[] {
  return (own === null ? asked : [...asked, own]).filter(openAiTakesStop);
}

function refuseInexpressible({ tools, toolChoice, responseFormat, reasoningEffort }: ChatRequest): void {
  const refuse = (name: string) =>
    unsupported(name, 'is not supported by this model: its vendor completes plain text.');
  if (tools.length > 0) throw refuse('tools');
  if (toolChoice !== null && toolChoice !== 'none' && toolChoice !== 'auto') throw refuse('tool_choice');
  if (responseFormat !== null && responseFormat.type !== 'text') throw refuse('response_format');
  if (reasoningEffort !== null && reasoningEffort !== 'none') throw refuse('reasoning_effort');
}
