/** The messages protocol. */
import { type EntryParameter, json, type RouteEntry, streamed } from '../entry.ts';

const protocols = ['anthropic-messages'];
const tag = 'Messages';
const errors = 'AnthropicError';

const parameters: readonly EntryParameter[] = [
  {
    name: 'anthropic-version',
    in: 'header',
    description: 'Version of the protocol; handed to vendors that speak it.',
    type: 'string',
  },
  {
    name: 'anthropic-beta',
    in: 'header',
    description: 'Names of previews; handed to vendors that speak the protocol.',
    type: 'string',
  },
];

export const messagesEntries: readonly RouteEntry[] = [
  {
    operation: 'chat',
    protocols,
    id: 'createMessage',
    tag,
    summary: 'Messages protocol',
    description:
      'Goes on with a conversation. With `stream: true` each event has a name, which its data repeats as `type`; the last one is `message_stop`, or `error`. There is no `[DONE]`. Clients may skip events that they do not know.',
    parameters,
    request: json('MessagesRequest'),
    example: { model: '', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] },
    replies: streamed('MessagesReply', 'MessagesEvent'),
    errors,
  },
  {
    operation: 'chat.count',
    protocols,
    id: 'countMessageTokens',
    tag,
    summary: 'Tokens of a conversation',
    description: 'Counts without answering. Free of charge.',
    parameters,
    request: json('MessagesCountRequest'),
    example: { model: '', messages: [{ role: 'user', content: 'Hello' }] },
    replies: json('MessagesCount'),
    errors,
  },
];
