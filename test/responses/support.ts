/** The official SDK on a gateway's Responses API, over vendors of each protocol. */
import OpenAI from 'openai';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import { type Documents, type Stack, type StackOptions, startStack } from '../kit/stack.ts';

/** Models by the protocol that the only channel of each speaks. */
export const viaNative = 'native-chat';
export const viaReasoner = 'native-reasoner';
export const viaChat = 'chat-only';
export const viaAnthropic = 'claude-only';
export const viaGemini = 'gemini-only';

export const translated = [viaChat, viaAnthropic, viaGemini] as const;
export const all = [viaNative, ...translated] as const;

const price = { input: '1', cachedInput: '0.5', output: '2' };

/** Only what these tests ask for. */
function reduce({ channels, models, routes }: Documents): void {
  const kept = ['alpha-image-1k', 'beta-3.1-flash-image'];
  models.models = Object.fromEntries(kept.map((name) => [name, models.models[name]]));
  const drawing = ['simulated-openai', 'simulated-gemini'];
  channels.channels = Object.fromEntries(drawing.map((name) => [name, channels.channels[name]]));
  for (const name of drawing) {
    const served = Object.entries(channels.channels[name].models).filter(([model]) => kept.includes(model));
    channels.channels[name].models = Object.fromEntries(served);
  }
  routes.routes = routes.routes.filter(({ path }: { path: string }) => /^\/v1\/(responses|chat)/.test(path));
}

const channel = (vendor: string, models: object, protocol: string) => ({
  vendor,
  baseUrl: `\${env:SIMULATOR_URL}/${{ openai: 'openai/v1', anthropic: 'anthropic/v1', gemini: 'gemini/v1beta' }[vendor]}`,
  credentials: ['sk-simulated-one'],
  groups: ['default', 'vip'],
  cooldown: { failures: 1000, first: '1s', longest: '1s' },
  models,
  protocols: [protocol],
});

function addModels({ channels, models }: Documents): void {
  const own = channels.channels;
  own['only-responses'] = channel(
    'openai',
    { [viaNative]: 'gpt-4.1-mini', [viaReasoner]: 'gpt-5.5' },
    'openai-responses',
  );
  own['only-chat'] = channel('openai', { [viaChat]: 'gpt-4.1-mini' }, 'openai-chat');
  own['only-anthropic'] = channel('anthropic', { [viaAnthropic]: 'claude-sonnet-5-5' }, 'anthropic-messages');
  own['only-gemini'] = channel('gemini', { [viaGemini]: 'gemini-3.6-flash' }, 'gemini-generate');
  for (const name of [...all, viaReasoner]) models.models[name] = { family: 'chat', price };
}

export const startResponsesStack = (options: StackOptions = {}): Promise<Stack> =>
  startStack({
    ...options,
    edit(documents) {
      reduce(documents);
      addModels(documents);
      options.edit?.(documents);
    },
  });

export const clientOf = (stack: Stack, apiKey = stack.key): OpenAI =>
  new OpenAI({ baseURL: stack.base, apiKey, maxRetries: 0 });

export async function eventsOf(stream: AsyncIterable<ResponseStreamEvent>): Promise<ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** Bodies that a vendor got, the last one last. */
export const receivedBodies = (stack: Stack): Record<string, unknown>[] =>
  stack.simulator.received.map(({ body }) => body as Record<string, unknown>);

/** A picture of one pixel. */
export const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

export const weather = {
  type: 'function' as const,
  name: 'weather',
  description: 'The weather of a city.',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
  strict: true,
};
