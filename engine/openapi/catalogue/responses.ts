/** OpenAI's responses: items instead of messages. */
import { json, pageParameters, type RouteEntry, streamed } from '../entry.ts';

const protocols = ['openai-responses'];
const tag = 'Responses';
const errors = 'OpenAiError';

export const responsesEntries: readonly RouteEntry[] = [
  {
    operation: 'chat',
    protocols,
    id: 'createResponse',
    tag,
    summary: 'Agents, tool calls',
    description:
      'Answers with items: messages, calls of tools, thoughts. With `stream: true` each event has a name, which its data repeats as `type`, and a `sequence_number`; the last one is `response.completed`, `response.incomplete`, `response.failed` or `error`. There is no `[DONE]`. A response that is stored can be gone on from with `previous_response_id`.',
    request: json('ResponsesRequest'),
    example: { model: '', input: 'Say hello.' },
    replies: streamed('ResponsesReply', 'ResponsesEvent'),
    errors,
  },
  {
    operation: 'chat',
    protocols: [...protocols, 'openai-responses-compact'],
    ending: '/compact',
    id: 'compactResponse',
    tag,
    summary: 'Compaction of a conversation',
    description:
      'Makes a long conversation short. The whole `output` is the `input` of the next request; what stands for the conversation is opaque.',
    request: json('ResponsesCompactRequest'),
    example: {
      model: '',
      input: [
        { role: 'user', content: 'Build the parser.' },
        { role: 'assistant', content: 'It is in parser.ts.' },
      ],
    },
    replies: json('ResponsesCompaction'),
    errors,
  },
  {
    operation: 'chat.count',
    protocols,
    id: 'countResponseTokens',
    tag,
    summary: 'Tokens of an input',
    description: 'Counts without answering. Free of charge.',
    request: json('ResponsesRequest'),
    example: { model: '', input: 'How long is this?' },
    replies: json('ResponsesInputTokens'),
    errors,
  },
  {
    operation: 'responses.get',
    protocols,
    id: 'retrieveResponse',
    tag,
    summary: 'A stored response',
    description: 'Another account’s response is not found.',
    replies: json('ResponsesReply'),
    errors,
  },
  {
    operation: 'responses.items',
    protocols,
    id: 'listResponseItems',
    tag,
    summary: 'The input of a stored response',
    description: 'Its items, in pages.',
    parameters: pageParameters('item'),
    replies: json('ResponsesItemList'),
    errors,
  },
  {
    operation: 'responses.delete',
    protocols,
    id: 'deleteResponse',
    tag,
    summary: 'Deletion of a stored response',
    description: 'It cannot be gone on from any more.',
    replies: json('ResponsesDeleted'),
    errors,
  },
];
