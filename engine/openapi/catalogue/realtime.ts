/** Realtime sessions over a WebSocket. */
import type { RouteEntry } from '../entry.ts';

export const realtimeEntries: readonly RouteEntry[] = [
  {
    operation: 'realtime',
    protocols: ['openai-realtime'],
    id: 'connectRealtime',
    tag: 'Realtime',
    summary: 'Low-latency realtime audio',
    description:
      'A WebSocket: events in JSON, one in each text frame, both ways. Browsers, which cannot send headers, offer the subprotocols `realtime` and `openai-insecure-api-key.<key>`; the gateway answers with `realtime`. Each `response.done` is charged. When the balance runs out the session ends with the event `error` and the close code 1008.',
    parameters: [
      {
        name: 'model',
        in: 'query',
        description: 'A realtime model that the key may use.',
        type: 'string',
        required: true,
      },
    ],
    replies: {},
    status: '101',
    events: { client: 'RealtimeClientEvent', server: 'RealtimeServerEvent' },
    errors: 'OpenAiError',
  },
];
