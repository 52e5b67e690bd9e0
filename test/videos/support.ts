/** A stack whose videos hurry, and the questions that every test of them asks. */
import { setTimeout as delay } from 'node:timers/promises';
import OpenAI from 'openai';
import { expect } from 'vitest';
import { hashKey } from '../../engine/ledger/index.ts';
import { type Documents, type Stack, type StackOptions, startStack } from '../kit/stack.ts';

/** The models of the demo, one for each vendor protocol, with the price of a second in units. */
export const videoModels = [
  { model: 'demo-video', channel: 'simulated-openai', perSecond: 50_000, standard: 4 },
  { model: 'demo-video-veo', channel: 'simulated-gemini', perSecond: 200_000, standard: 8 },
  { model: 'demo-video-grok', channel: 'simulated-xai', perSecond: 25_000, standard: 6 },
] as const;

export const fastVideos = {
  pollInterval: '20ms',
  deadline: '30s',
  lease: '600ms',
  channelGrace: '150ms',
  storeAttempts: 3,
};

export function startVideoStack(options: StackOptions = {}): Promise<Stack> {
  return startStack({
    ...options,
    edit: (documents: Documents) => {
      documents.gateway.videos = { ...fastVideos };
      // One account, so that a test knows who is asked.
      delete documents.channels.channels['simulated-openai-spare'];
      options.edit?.(documents);
    },
  });
}

export const sdk = (stack: Stack, apiKey = stack.key): OpenAI =>
  new OpenAI({ apiKey, baseURL: stack.base, maxRetries: 0 });

// biome-ignore lint/suspicious/noExplicitAny: what came over the wire
export type Body = any;

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** A request without following redirects, its body as JSON where it is any. */
export async function ask(
  stack: Stack,
  method: string,
  path: string,
  { key = stack.key, json }: { readonly key?: string; readonly json?: unknown } = {},
): Promise<Reply> {
  const response = await fetch(stack.base + path, {
    method,
    redirect: 'manual',
    headers: {
      authorization: `Bearer ${key}`,
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text.startsWith('{') ? JSON.parse(text) : text };
}

export const create = (stack: Stack, json: object): Promise<Reply> =>
  ask(stack, 'POST', '/videos', { json: { model: 'demo-video', prompt: 'A kite', ...json } });

/** Asks until `isThere` says so. */
export async function until(
  stack: Stack,
  id: string,
  isThere: (video: Body) => boolean,
  patience = 20_000,
): Promise<Body> {
  const end = Date.now() + patience;
  for (;;) {
    const { status, body } = await ask(stack, 'GET', `/videos/${id}`);
    expect(status, JSON.stringify(body)).toBe(200);
    if (isThere(body)) return body;
    if (Date.now() > end) throw new Error(`the video does not come to its end: ${JSON.stringify(body)}`);
    await delay(15);
  }
}

/** Nothing more will happen to it. */
export const isOver = ({ status, metadata }: Body): boolean =>
  status === 'failed' || metadata.storage.status === 'ready' || metadata.storage.status === 'failed';

export const ended = (stack: Stack, id: string): Promise<Body> => until(stack, id, isOver);

/** What the user could spend now. */
export async function available(stack: Stack): Promise<number> {
  const key = await stack.gateway.ledger.findKey(hashKey(stack.key));
  return key!.account.available;
}
