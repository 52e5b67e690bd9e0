/** Anthropic's SDK on a gateway's messages, over a vendor of each protocol. */
import Anthropic from '@anthropic-ai/sdk';
import { builtIns } from '../../plugins/index.ts';
import { type Documents, type Stack, type StackOptions, startStack } from '../kit/stack.ts';

/** The only channel of each model speaks the protocol it is named after. */
const accounts: Readonly<Record<string, readonly [channel: string, vendorModel: string, thinker: string]>> = {
  'anthropic-messages': ['simulated-anthropic', 'claude-haiku-4-5', 'claude-sonnet-5-5'],
  'openai-chat': ['simulated-openai', 'gpt-4.1-mini', 'gpt-5.5'],
  'openai-responses': ['simulated-openai', 'gpt-5.5', 'gpt-5.5'],
  'gemini-generate': ['simulated-gemini', 'gemini-2.5-flash', 'gemini-3.6-flash'],
};

const registered = new Set(builtIns.protocols.map(({ name }) => name));
export const vendorProtocols = Object.keys(accounts).filter((name) => registered.has(name));
export const otherProtocols = vendorProtocols.filter((name) => name !== 'anthropic-messages');

export const modelOf = (protocol: string): string => `via-${protocol}`;
export const thinkerOf = (protocol: string): string => `thinker-${protocol}`;

const price = { input: '1', cachedInput: '0.5', cacheWrite: '2', output: '4' };
const cooldown = { failures: 1_000_000, first: '1ms', longest: '1ms' };

function addModels({ channels, models }: Documents): void {
  for (const protocol of vendorProtocols) {
    const [channel, vendorModel, thinker] = accounts[protocol]!;
    const { models: _models, ...account } = channels.channels[channel];
    const served = { [modelOf(protocol)]: vendorModel, [thinkerOf(protocol)]: thinker };
    // What is sealed for one account another cannot open.
    const credentials = account.credentials.slice(0, 1);
    channels.channels[`only-${protocol}`] = {
      ...account,
      credentials,
      cooldown,
      protocols: [protocol],
      models: served,
    };
    for (const name of Object.keys(served)) models.models[name] = { family: 'chat', price, maxOutputTokens: 8192 };
  }
}

export const startMessages = (options: StackOptions = {}): Promise<Stack> =>
  startStack({
    ...options,
    edit(documents) {
      addModels(documents);
      options.edit?.(documents);
    },
  });

export const clientOf = (stack: Stack, apiKey = stack.key, version = '2023-06-01'): Anthropic =>
  new Anthropic({
    apiKey,
    baseURL: stack.gateway.url,
    maxRetries: 0,
    defaultHeaders: { 'anthropic-version': version },
  });

type Params = Anthropic.MessageCreateParamsNonStreaming;
export type Asked = Omit<Params, 'max_tokens' | 'messages'> & {
  readonly max_tokens?: number;
  readonly messages: Params['messages'] | string;
};

/** The same request whole or streamed; the SDK puts the events together. */
export function ask(stack: Stack, streamed: boolean, { messages, max_tokens = 2000, ...rest }: Asked) {
  const turns: Params['messages'] = typeof messages === 'string' ? [{ role: 'user', content: messages }] : messages;
  const params: Params = { ...rest, max_tokens, messages: turns };
  const client = clientOf(stack);
  return streamed ? client.messages.stream(params).finalMessage() : client.messages.create(params);
}

export const textOf = ({ content }: Anthropic.Message): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('');

export const callsOf = ({ content }: Anthropic.Message): Anthropic.ToolUseBlock[] =>
  content.filter((block) => block.type === 'tool_use');

/** What a vendor was sent last, as JSON text. */
export function lastSent(stack: Stack): string {
  const last = stack.simulator.received.at(-1);
  if (last === undefined) throw new Error('no vendor was asked');
  return last.raw.toString('utf8');
}

export const ways = [
  ['whole', false],
  ['streamed', true],
] as const;

export const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
export const pdf = Buffer.from('%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\n%%EOF').toString('base64');

export const lookUp: Anthropic.Tool = {
  name: 'look_up',
  description: 'Looks a number up.',
  input_schema: { type: 'object', properties: { number: { type: 'string' } }, required: ['number'] },
};
