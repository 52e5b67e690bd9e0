/** Canned answers of chat completions. */
import type { Script } from './stream.ts';

const id = '"id":"chatcmpl-bench","created":1790000000,"model":"gpt-4.1-mini"';
const usage =
  '"usage":{"prompt_tokens":12,"completion_tokens":100,"total_tokens":112,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}';

const chunkOf = (delta: string, finish: string) =>
  `data: {${id},"object":"chat.completion.chunk","choices":[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}],"usage":null}\n\n`;

const word = chunkOf('{"content":"a few words "}', 'null');
const usageChunk = `data: {${id},"object":"chat.completion.chunk","choices":[],${usage}}\n\n`;

export const wholeChat = `{${id},"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"${'A short answer. '.repeat(20)}","refusal":null},"logprobs":null,"finish_reason":"stop"}],${usage}}`;

export const chatScript: Script = {
  first: chunkOf('{"role":"assistant","content":""}', 'null'),
  word: (stamped) => (stamped ? chunkOf(`{"content":"${process.hrtime.bigint()}"}`, 'null') : word),
  last: `${chunkOf('{}', '"stop"')}${usageChunk}data: [DONE]\n\n`,
};
