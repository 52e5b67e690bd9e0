/** Conversations, in OpenAI's two older forms. */
import { json, type RouteEntry, streamed } from '../entry.ts';

const tag = 'Chat';
const errors = 'OpenAiError';

export const chatEntries: readonly RouteEntry[] = [
  {
    operation: 'chat',
    protocols: ['openai-chat'],
    id: 'createChatCompletion',
    tag,
    summary: 'Chat',
    description:
      'Goes on with a conversation. With `stream: true` each event is a line `data: <chunk>`; the last one is `data: [DONE]`. An error that happens after the stream has begun is its last event. Models that draw answer with images.',
    request: json('ChatRequest'),
    example: { model: '', messages: [{ role: 'user', content: 'Hello' }] },
    replies: streamed('ChatReply', 'ChatChunk'),
    errors,
  },
  {
    operation: 'chat',
    protocols: ['openai-completions'],
    id: 'createCompletion',
    tag,
    summary: 'Legacy text completions',
    description:
      'Goes on with a text. With `stream: true` each event is a line `data: <completion>`; the last one is `data: [DONE]`.',
    request: json('CompletionRequest'),
    example: { model: '', prompt: 'Roses are', max_tokens: 16 },
    replies: streamed('CompletionReply', 'CompletionReply'),
    errors,
  },
];
