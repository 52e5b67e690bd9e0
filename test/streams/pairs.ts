/** Every client protocol that streams, and every vendor protocol that can serve it: what a test needs to know of each. */
import type { Documents } from '../kit/stack.ts';

/** One way of asking the gateway for a streamed answer. */
export interface StreamClient {
  readonly protocol: string;
  path(model: string): string;
  body(model: string, prompt: string): object;
  readonly headers?: Readonly<Record<string, string>>;
  /** The text that a client of this protocol would show. */
  said(text: string): string;
  /** What a stream that went well ends with. */
  readonly ended: RegExp;
  /** What tells a client that the stream broke. */
  readonly failed: RegExp;
}

/** A vendor of the simulator and the protocol in which it is to be spoken to. */
export interface StreamVendor {
  readonly protocol: string;
  readonly vendor: string;
  readonly base: string;
  readonly model: string;
}

const events = (text: string): Record<string, never>[] =>
  text
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)));

// biome-ignore lint/suspicious/noExplicitAny: the shapes of five protocols
type Event = any;
const joined = (text: string, read: (event: Event) => string | undefined): string =>
  events(text)
    .map((event) => read(event) ?? '')
    .join('');

export const clients: readonly StreamClient[] = [
  {
    protocol: 'openai-chat',
    path: () => '/v1/chat/completions',
    body: (model, prompt) => ({ model, stream: true, messages: [{ role: 'user', content: prompt }] }),
    said: (text) => joined(text, (event) => event.choices?.[0]?.delta?.content),
    ended: /data: \[DONE\]\n\n$/,
    failed: /data: \{"error":\{"message":/,
  },
  {
    protocol: 'openai-completions',
    path: () => '/v1/completions',
    body: (model, prompt) => ({ model, stream: true, prompt, max_tokens: 200 }),
    said: (text) => joined(text, (event) => event.choices?.[0]?.text),
    ended: /data: \[DONE\]\n\n$/,
    failed: /data: \{"error":\{"message":/,
  },
  {
    protocol: 'openai-responses',
    path: () => '/v1/responses',
    body: (model, prompt) => ({ model, stream: true, input: prompt }),
    said: (text) => joined(text, (event) => (event.type === 'response.output_text.delta' ? event.delta : '')),
    ended: /event: response\.completed\ndata: \{.*\}\n\n$/,
    failed: /event: (error|response\.failed)\n/,
  },
  {
    protocol: 'anthropic-messages',
    path: () => '/v1/messages',
    body: (model, prompt) => ({ model, stream: true, max_tokens: 200, messages: [{ role: 'user', content: prompt }] }),
    said: (text) => joined(text, (event) => (event.type === 'content_block_delta' ? event.delta.text : '')),
    ended: /event: message_stop\ndata: \{.*\}\n\n$/,
    failed: /event: error\n/,
  },
  {
    protocol: 'gemini-generate',
    path: (model) => `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    body: (_model, prompt) => ({ contents: [{ role: 'user', parts: [{ text: prompt }] }] }),
    said: (text) =>
      joined(text, (event) =>
        event.candidates?.[0]?.content?.parts?.map((part: Event) => (part.thought ? '' : (part.text ?? ''))).join(''),
      ),
    ended: /"finishReason":\s*"STOP"/,
    failed: /data: \{\s*"error":\s*\{/,
  },
];

export const vendors: readonly StreamVendor[] = [
  { protocol: 'openai-chat', vendor: 'openai', base: '/openai/v1', model: 'gpt-4.1-mini' },
  { protocol: 'openai-responses', vendor: 'openai', base: '/openai/v1', model: 'gpt-4.1-mini' },
  { protocol: 'anthropic-messages', vendor: 'anthropic', base: '/anthropic/v1', model: 'claude-haiku-4-5' },
  { protocol: 'gemini-generate', vendor: 'gemini', base: '/gemini/v1beta', model: 'gemini-2.5-flash' },
];

/** The public name of the model that a vendor's protocol serves. */
export const modelOf = ({ protocol }: StreamVendor): string => `over-${protocol}`;

/** Two channels for each vendor protocol: what fails at the first can be had from the second. */
export function setStreamChannels(documents: Documents): void {
  const { channels } = documents;
  channels.channels = {};
  documents.models.models = {};
  for (const one of vendors) {
    documents.models.models[modelOf(one)] = {
      family: 'chat',
      price: { input: '1', output: '10' },
      maxOutputTokens: 1000,
    };
    for (const [place, priority] of [
      ['first', 2],
      ['second', 1],
    ] as const) {
      channels.channels[`${one.protocol}-${place}`] = {
        vendor: one.vendor,
        baseUrl: `\${env:SIMULATOR_URL}${one.base}`,
        credentials: [`sk-${place}`],
        groups: ['default'],
        protocols: [one.protocol],
        models: { [modelOf(one)]: one.model },
        priority,
        timeouts: { connect: '2s', firstByte: '400ms', idle: '400ms' },
        cooldown: { failures: 1000, first: '1s', longest: '1s' },
      };
    }
  }
}
