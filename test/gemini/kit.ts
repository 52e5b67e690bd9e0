/** What the tests of Gemini's native route share: a stack whose one model is served by a vendor of each chat protocol. */
import { GoogleGenAI } from '@google/genai';
import type { UsageRow } from '../../engine/contract/usage.ts';
import { type Documents, type Stack, type StackOptions, startStack } from '../kit/stack.ts';

interface ChatVendor {
  readonly protocol: string;
  readonly vendor: string;
  /** Below the simulator's URL. */
  readonly path: string;
  readonly model: string;
}

/** One for each chat protocol that a vendor speaks. */
export const chatVendors: readonly ChatVendor[] = [
  { protocol: 'gemini-generate', vendor: 'gemini', path: '/gemini/v1beta', model: 'gemini-3.6-flash' },
  { protocol: 'openai-chat', vendor: 'openai', path: '/openai/v1', model: 'gpt-4.1-mini' },
  { protocol: 'anthropic-messages', vendor: 'anthropic', path: '/anthropic/v1', model: 'claude-sonnet-5-5' },
  { protocol: 'openai-responses', vendor: 'openai', path: '/openai/v1', model: 'gpt-5.5' },
];

/** `shop-<protocol>` is served by a vendor of that protocol alone; `suffix` steers faults. */
function shopChannels(documents: Documents, suffix = ''): void {
  for (const { protocol, vendor, path, model } of chatVendors) {
    documents.models.models[`shop-${protocol}`] = {
      family: 'chat',
      price: { input: '1', cachedInput: '0.1', output: '2' },
      maxOutputTokens: 8000,
    };
    documents.channels.channels[`shop-${protocol}`] = {
      vendor,
      baseUrl: `\${env:SIMULATOR_URL}${path}`,
      credentials: ['simulated'],
      groups: ['default'],
      protocols: [protocol],
      models: { [`shop-${protocol}`]: `${model}${suffix}` },
    };
  }
}

export const startShop = (suffix = '', options: StackOptions = {}): Promise<Stack> =>
  startStack({
    ...options,
    edit(documents) {
      shopChannels(documents, suffix);
      options.edit?.(documents);
    },
  });

export const clientOf = (stack: Stack, apiKey = stack.key): GoogleGenAI =>
  new GoogleGenAI({ apiKey, httpOptions: { baseUrl: stack.gateway.url, apiVersion: 'v1beta' } });

export async function lastRow(stack: Stack): Promise<UsageRow> {
  const [row] = await stack.usage();
  if (row === undefined) throw new Error('the usage log is empty');
  return row;
}

/** POST to the native route as a plain client. */
export const postNative = (stack: Stack, action: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${stack.gateway.url}/v1beta/models/${action}`, {
    method: 'POST',
    headers: { 'x-goog-api-key': stack.key, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
