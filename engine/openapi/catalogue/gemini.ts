/** The native protocol of Gemini's clients. */
import { json, type RouteEntry, streamed } from '../entry.ts';

const protocols = ['gemini-generate'];
const tag = 'Gemini native';
const errors = 'GoogleError';
const example = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] };

export const geminiEntries: readonly RouteEntry[] = [
  {
    operation: 'chat',
    protocols,
    id: 'generateContent',
    tag,
    summary: 'Native protocol, whole',
    description: 'Kept for compatibility: goes on with a conversation. Models that draw answer with images.',
    request: json('GenerateRequest'),
    example,
    replies: json('GenerateReply'),
    errors,
  },
  {
    operation: 'chat',
    protocols,
    ending: ':streamGenerateContent',
    id: 'streamGenerateContent',
    tag,
    summary: 'Native protocol, streamed',
    description:
      'Kept for compatibility. With `alt=sse` each event is a line `data: <answer>` with what is new, without a closing mark; else the answer is one JSON array of the same objects, written as they come.',
    parameters: [{ name: 'alt', in: 'query', description: '`sse`: events instead of an array.', type: 'string' }],
    request: json('GenerateRequest'),
    example,
    replies: streamed('GeminiEvents', 'GeminiEvent'),
    errors,
  },
  {
    operation: 'chat.count',
    protocols,
    id: 'countTokens',
    tag,
    summary: 'Tokens of a conversation',
    description: 'Counts without answering. Free of charge.',
    request: json('CountTokensRequest'),
    example,
    replies: json('CountTokensReply'),
    errors,
  },
];
