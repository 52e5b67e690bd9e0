import { defineProtocol, GatewayError, openAiError, readOpenAiError } from '../../engine/plugin.ts';
import { createMeter } from './openai-realtime/meter.ts';
import { offeredBy } from './openai-realtime/offered.ts';

const subprotocol = 'realtime';
/** The earlier events have other names; vendors tell them by the header, browsers by the subprotocol. */
const betaSubprotocol = 'openai-beta.realtime-v1';

let events = 0;

export default defineProtocol({
  kind: 'realtime',
  name: 'openai-realtime',
  summary: 'OpenAI’s Realtime API over WebSockets, the beta’s events too.',
  client: {
    readModel({ query }) {
      const model = new URLSearchParams(query).get('model');
      if (!model)
        throw new GatewayError('missing_required_parameter', 'Name the model in the query: `?model=…`.', {
          param: 'model',
        });
      return model;
    },
    headers: ['sec-websocket-protocol', 'openai-beta'],
    chooseSubprotocol: (headers) => (offeredBy(headers).includes(subprotocol) ? subprotocol : ''),
    encodeError: openAiError,
    encodeErrorEvent(error, requestId) {
      const body = openAiError(error, requestId).error;
      return JSON.stringify({
        type: 'error',
        event_id: `event_${requestId}_${++events}`,
        error: { ...body, event_id: null },
      });
    },
  },
  vendor: {
    headersFor(headers): Readonly<Record<string, string>> {
      if (headers['openai-beta']) return { 'openai-beta': headers['openai-beta'] };
      return offeredBy(headers).includes(betaSubprotocol) ? { 'openai-beta': 'realtime=v1' } : {};
    },
    decodeError: readOpenAiError,
    meter: createMeter,
  },
});
