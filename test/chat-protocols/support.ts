import { fitted } from '../../engine/chain/chat/fit.ts';
import { translateBridge } from '../../engine/chain/chat/translate.ts';
import type { CallHead, ChatCall, ChatEvent, ChatProtocol, ChatRequest, JsonObject } from '../../engine/plugin.ts';
import messages from '../../plugins/protocols/anthropic-messages.ts';
import gemini from '../../plugins/protocols/gemini-generate.ts';
import chat from '../../plugins/protocols/openai-chat.ts';
import completions from '../../plugins/protocols/openai-completions.ts';
import responses from '../../plugins/protocols/openai-responses.ts';

/** Those that a vendor can be spoken to in, in the order of the documents. */
export const protocols: Readonly<Record<string, ChatProtocol>> = Object.fromEntries(
  [chat, completions, responses, messages, gemini].map((protocol) => [protocol.name, protocol]),
);

/** A request of no particular path. */
export const noHead: CallHead = { path: '', parameter: '', query: '' };

/** No hook of these tests looks at the exchange. */
const noExchange = {} as Parameters<ReturnType<typeof translateBridge>['stream']>[0];

const bridgeOf = (client: ChatProtocol, vendor: ChatProtocol) => translateBridge(client, vendor, []);

/** The codecs alone: between equal protocols the bridge would relay the bytes instead. */
export function vendorBody(client: ChatProtocol, vendor: ChatProtocol, body: JsonObject): JsonObject {
  const { request } = fitted(client.decodeRequest(client.readCall(body, noHead).body), vendor);
  const encoded = vendor.encodeRequest(request, 'vendor-model');
  return JSON.parse(JSON.stringify(encoded)) as JsonObject;
}

export const callOf = (over: Partial<ChatCall> = {}): ChatCall => ({
  kind: 'chat',
  model: 'shop',
  stream: true,
  wantsUsage: true,
  maxOutputTokens: null,
  choices: 1,
  body: {},
  ...over,
});

type Asking = (stop: readonly string[]) => JsonObject;

/** The shortest request with stop sequences that a client of each protocol can send. */
const asking: Readonly<Record<string, Asking>> = {
  [chat.name]: (stop) => ({ model: 'shop', messages: [{ role: 'user', content: 'Hi' }], stop: [...stop] }),
  [completions.name]: (stop) => ({ model: 'shop', prompt: 'Hi', stop: [...stop] }),
  [responses.name]: () => ({ model: 'shop', input: 'Hi' }),
  [messages.name]: (stop) => ({
    model: 'shop',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Hi' }],
    stop_sequences: [...stop],
  }),
  [gemini.name]: (stop) => ({
    contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    generationConfig: { stopSequences: [...stop] },
  }),
};

/** A bridge on which this was asked; without stop sequences nothing has to be asked for an answer to be read. */
function asked(client: ChatProtocol, vendor: ChatProtocol, call: ChatCall, stop: readonly string[]) {
  const bridge = bridgeOf(client, vendor);
  const own = stop.length === 0 ? call : { ...call, body: asking[client.name]!(stop) };
  if (stop.length > 0 && client !== vendor) bridge.request(noExchange, own, 'vendor-model', null);
  return { bridge, call: own };
}

export function wholeReply(client: ChatProtocol, vendor: ChatProtocol, body: Buffer, stop: readonly string[] = []) {
  const { bridge, call } = asked(client, vendor, callOf({ stream: false }), stop);
  return bridge.reply(noExchange, call, body);
}

/** What the client gets of a vendor's stream that comes in the given pieces, and the tap that saw it. */
export function streamed(
  client: ChatProtocol,
  vendor: ChatProtocol,
  pieces: readonly Buffer[],
  called = callOf(),
  stop: readonly string[] = [],
) {
  const { bridge, call } = asked(client, vendor, called, stop);
  const tap = bridge.stream(noExchange, call);
  const out = pieces.map((piece) => tap.push(piece) ?? Buffer.alloc(0));
  const rest = tap.flush() ?? Buffer.alloc(0);
  const closing = tap.error === null && tap.complete ? tap.closing() : Buffer.alloc(0);
  return { tap, text: Buffer.concat([...out, rest]).toString('utf8'), closing: closing.toString('utf8') };
}

/** A stream as a client gets it of these events, to its end. */
export function written(client: ChatProtocol, events: readonly ChatEvent[], call = callOf()): string {
  const encoder = client.encodeStream(call);
  return events.map((event) => encoder.encode(event)).join('') + encoder.end();
}

/** The older two, which OpenAI's clients share the form of. */
export const openAiProtocols: readonly ChatProtocol[] = [chat, completions];

export const request = (over: Partial<ChatRequest>): ChatRequest => ({
  model: 'shop',
  stream: false,
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
  tools: [],
  toolChoice: null,
  parallelToolCalls: null,
  maxOutputTokens: null,
  temperature: null,
  topP: null,
  topK: null,
  choices: null,
  stop: [],
  seed: null,
  presencePenalty: null,
  frequencyPenalty: null,
  reasoningEffort: null,
  reasoningBudget: null,
  reasoningShown: null,
  verbosity: null,
  responseFormat: null,
  user: null,
  extra: {},
  ...over,
});
