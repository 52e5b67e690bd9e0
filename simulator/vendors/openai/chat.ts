import { epochSeconds, nextId } from '../../answers.ts';
import type { Answer, Call } from '../../contract.ts';
import { composeReply, countTokens, piecesOf, type ReplyText } from '../../reply-text.ts';
import { sampleValue } from '../../sample.ts';
import { readSteering, type Steering } from '../../steering.ts';
import { streamChat, wholeChat } from './chat-answer.ts';
import type { ChatOutcome, ToolCall } from './chat-outcome.ts';
import { type ChatRequest, readChatRequest, type Tool } from './chat-request.ts';
import { endsWithToolResult, lastUserText, measureMessages } from './messages.ts';

const TOKENS_PER_MESSAGE = 4;

/** `POST /v1/chat/completions`: echoes the last user message, or calls the tools it was given. */
export function answerChat(call: Call): Answer {
  const { request, model } = readChatRequest(call);
  const prompt = lastUserText(request.messages);
  const steering = readSteering(prompt);
  const called = functionCall(request);
  const calls = called ? [called] : toolCalls(request, steering.calls);
  const reply = calls.length > 0 ? piecesOf('', 1) : replyTo(request, prompt, steering);
  const copies = request.n ?? 1;
  const outcome: ChatOutcome = {
    id: nextId('chatcmpl-'),
    created: epochSeconds(),
    model: model.dated,
    serviceTier: request.service_tier === 'auto' ? 'default' : (request.service_tier ?? 'default'),
    copies,
    reply,
    calls,
    legacy: called !== undefined,
    finish: called ? 'function_call' : calls.length > 0 ? 'tool_calls' : reply.truncated ? 'length' : 'stop',
    usage: usageOf(request, reply, calls, copies, steering),
    logprobs: request.logprobs === true,
    steering,
  };
  return request.stream ? streamChat(outcome, request, call) : wholeChat(outcome, call);
}

function replyTo(request: ChatRequest, prompt: string, steering: Steering): ReplyText {
  const format = request.response_format;
  if (format?.type === 'json_object') return piecesOf(JSON.stringify({ answer: 'Zürich 🙂' }), steering.chunks);
  if (format?.type === 'json_schema')
    return piecesOf(JSON.stringify(sampleValue(format.json_schema?.schema)), steering.chunks);
  const stops = request.stop === undefined ? [] : [request.stop].flat();
  return composeReply(prompt, steering, request.max_completion_tokens ?? request.max_tokens, stops);
}

function toolCalls({ tools, tool_choice: choice = 'auto', messages }: ChatRequest, count: number): ToolCall[] {
  if (!tools || choice === 'none' || endsWithToolResult(messages)) return [];
  const wanted = typeof choice === 'string' ? undefined : (choice.function ?? choice.custom)?.name;
  const tool = tools.find((candidate) => nameOf(candidate) === wanted) ?? tools[0]!;
  return Array.from({ length: count }, () => ({
    id: nextId('call_'),
    type: tool.type,
    name: nameOf(tool),
    input:
      tool.type === 'custom'
        ? 'Grüße 🙂'
        : JSON.stringify(sampleValue(tool.function?.parameters ?? { type: 'object' })),
  }));
}

/** The call of the old fields, which had no ids and no parallel calls. */
function functionCall({ functions, function_call: choice = 'auto', messages }: ChatRequest): ToolCall | undefined {
  if (!functions || choice === 'none' || messages.at(-1)?.role === 'function') return undefined;
  const wanted = typeof choice === 'string' ? undefined : choice.name;
  const { name, parameters } = functions.find((candidate) => candidate.name === wanted) ?? functions[0]!;
  return { id: '', type: 'function', name, input: JSON.stringify(sampleValue(parameters ?? { type: 'object' })) };
}

const nameOf = (tool: Tool): string => (tool.function ?? tool.custom)!.name;

/** Prompt: 4 a message, 1 per 4 characters of text and of the tools' JSON, 85 an image. Completion: text or calls, and reasoning, each per choice. */
function usageOf(
  request: ChatRequest,
  reply: ReplyText,
  calls: readonly ToolCall[],
  copies: number,
  steering: Steering,
): unknown {
  const { texts, imageTokens } = measureMessages(request.messages);
  const tools = request.tools ? countTokens(JSON.stringify(request.tools)) : 0;
  const prompt = texts.reduce((sum, text) => sum + TOKENS_PER_MESSAGE + countTokens(text), imageTokens + tools);
  const called = calls.reduce((sum, { name, input }) => sum + countTokens(name + input), 0);
  const completion = (reply.tokens + called + steering.reasoning) * copies;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: Math.min(steering.cached, prompt), audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: steering.reasoning * copies,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
