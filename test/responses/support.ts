/** The official SDK on a gateway's Responses API, over vendors of each protocol. */
import OpenAI from 'openai';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import { type Documents, type Stack, type StackOptions, startStack } from '../kit/stack.ts';

/** Which protocol the only channel of a model speaks. */
export const viaNative = 'native-chat';
export const viaChat = 'chat-only';
export const viaReasoner = 'native-reasoner';

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

function addModels({ channels, models }: Documents): void {
  const simulated = channels.channels['simulated-openai'];
  const { models: _models, ...account } = simulated;
  const channel = (vendorModels: object, protocols: readonly string[]) => ({
    ...account,
    credentials: ['sk-simulated-one'],
    weight: 1,
    cooldown: { failures: 1000, first: '1s', longest: '1s' },
    models: vendorModels,
    protocols,
  });
  channels.channels['only-responses'] = channel({ [viaNative]: 'gpt-4.1-mini', [viaReasoner]: 'gpt-5.5' }, [
    'openai-responses',
  ]);
  channels.channels['only-chat'] = channel({ [viaChat]: 'gpt-4.1-mini' }, ['openai-chat']);
  for (const name of [viaNative, viaChat, viaReasoner]) models.models[name] = { family: 'chat', price };
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
