/** Everything that can go wrong with a vendor, on every direct route: what the client gets, who is asked, what is owed. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Fault } from '../../simulator/index.ts';
import { type Stack, startStack } from '../kit/stack.ts';
import { formOf, lastRow, payloads, postForm, wavFile } from './support.ts';

/** `first`: served by the first channel; `second`: by the second one, for nothing but its own answer. */
type Served = 'first' | 'second' | 'refused' | 'broken';

interface Route {
  readonly name: string;
  readonly model: string;
  ask(stack: Stack): Promise<Response>;
  /** Reads a whole answer; throws where it is none. */
  read(answer: Response): Promise<void>;
}

const upload =
  (model: string, path: string, fields: Record<string, string> = {}) =>
  (stack: Stack) =>
    postForm(stack, path, formOf({ model, ...fields, file: wavFile(1) }));

const json = (path: string, body: object) => (stack: Stack) => stack.post(path, body);

async function readJson(answer: Response): Promise<void> {
  expect(await answer.json()).not.toHaveProperty('error');
}

const readEvents = (last: string) => async (answer: Response) => {
  const events = payloads(await answer.text()).filter((data) => data !== '[DONE]');
  expect(JSON.parse(events.at(-1)!).type).toBe(last);
};

const wholeRoutes: readonly Route[] = [
  {
    name: 'embeddings',
    model: 'demo-embedding',
    ask: json('/embeddings', { model: 'demo-embedding', input: 'text' }),
    read: readJson,
  },
  {
    name: 'rerank',
    model: 'demo-rerank',
    ask: json('/rerank', { model: 'demo-rerank', query: 'q', documents: ['a', 'b'] }),
    read: readJson,
  },
  {
    name: 'moderations',
    model: 'omni-moderation-latest',
    ask: json('/moderations', { input: 'text' }),
    read: readJson,
  },
  {
    name: 'transcriptions',
    model: 'demo-whisper',
    ask: upload('demo-whisper', '/audio/transcriptions'),
    read: readJson,
  },
  { name: 'translations', model: 'demo-whisper', ask: upload('demo-whisper', '/audio/translations'), read: readJson },
];

const eventRoutes: readonly Route[] = [
  {
    name: 'streamed transcriptions',
    model: 'demo-transcribe',
    ask: upload('demo-transcribe', '/audio/transcriptions', { stream: 'true' }),
    read: readEvents('transcript.text.done'),
  },
  {
    name: 'speech as events',
    model: 'demo-tts-mini',
    ask: json('/audio/speech', { model: 'demo-tts-mini', input: 'Hello you', voice: 'alloy', stream_format: 'sse' }),
    read: readEvents('speech.audio.done'),
  },
];

const speech: Route = {
  name: 'speech',
  model: 'demo-tts',
  ask: json('/audio/speech', { model: 'demo-tts', input: 'Hello you [bytes=4000]', voice: 'alloy' }),
  async read(answer) {
    expect((await answer.arrayBuffer()).byteLength).toBe(4000);
  },
};

const beforeAnswer: readonly (readonly [Fault, Served])[] = [
  [{ status: 500 }, 'second'],
  [{ status: 503 }, 'second'],
  [{ status: 429 }, 'second'],
  [{ status: 401 }, 'second'],
  [{ status: 400 }, 'refused'],
  [{ status: 404 }, 'refused'],
  [{ error200: true }, 'second'],
  [{ empty200: true }, 'second'],
  [{ wrongtype: true }, 'second'],
  [{ reset: 'now' }, 'second'],
  [{ reset: 'read' }, 'second'],
  [{ cut: 0 }, 'second'],
  [{ stall: 0 }, 'second'],
  [{ latency: 1000 }, 'second'],
];

const wholeTable: readonly (readonly [Fault, Served])[] = [
  ...beforeAnswer,
  [{ malformed: 0 }, 'second'],
  [{ cutbody: 10 }, 'second'],
  [{ length: 'longer' }, 'second'],
  [{ length: 'shorter' }, 'second'],
  [{ nousage: true }, 'first'],
  [{ hugeline: 100_000 }, 'first'],
  [{ trickle: 100 }, 'first'],
  [{ split: 1 }, 'first'],
];

const eventTable: readonly (readonly [Fault, Served])[] = [
  ...beforeAnswer,
  [{ errorframe: 0 }, 'second'],
  [{ malformed: 0 }, 'second'],
  [{ cut: 2 }, 'broken'],
  [{ errorframe: 2 }, 'broken'],
  [{ stall: 2 }, 'broken'],
  [{ nodone: true }, 'first'],
  [{ nousage: true }, 'first'],
  [{ hugeline: 100_000 }, 'first'],
  [{ crlf: true }, 'first'],
  [{ trickle: 50 }, 'first'],
  [{ split: 1 }, 'first'],
];

const bytesTable: readonly (readonly [Fault, Served])[] = [
  ...beforeAnswer,
  [{ cut: 2 }, 'broken'],
  [{ cutbody: 10 }, 'broken'],
  [{ stall: 2 }, 'broken'],
  [{ length: 'longer' }, 'broken'],
  [{ trickle: 500 }, 'first'],
  [{ split: 7 }, 'first'],
];

const rows = (routes: readonly Route[], table: typeof wholeTable) =>
  routes.flatMap((route) => table.map(([fault, served]) => ({ route, fault, served, name: route.name })));

describe('8 each fault has one outcome', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack({
      edit({ channels }) {
        // A model's first channel is asked first; nobody rests, and silence is short.
        const patience = {
          timeouts: { connect: '1s', firstByte: '700ms', idle: '200ms' },
          cooldown: { failures: 1000, first: '1ms', longest: '1ms' },
        };
        const all = Object.entries<{ vendor: string }>(channels.channels).filter(([name]) =>
          ['simulated-openai', 'simulated-cohere'].includes(name),
        );
        channels.channels = {};
        for (const [name, channel] of all) {
          channels.channels[name] = { ...channel, ...patience, credentials: ['sk-first'], priority: 2 };
          channels.channels[`${name}-other`] = { ...channel, ...patience, credentials: ['sk-second'], priority: 1 };
        }
      },
    });
  });
  afterAll(() => stack.close());
  afterEach(() => stack.simulator.faults.clear());

  const check = async (route: Route, fault: Fault, served: Served): Promise<void> => {
    const before = stack.simulator.received.length;
    stack.simulator.faults.add({ match: { times: 1 }, fault });
    const answer = await route.ask(stack);
    const asked = () => stack.simulator.received.slice(before).map(({ headers }) => headers.authorization?.slice(-5));
    if (served === 'refused') {
      expect(answer.status).toBe(fault.status);
      expect(await answer.json()).toHaveProperty('error.message');
    } else {
      expect(answer.status).toBe(200);
      if (served === 'broken') await expectBroken(answer);
      else await route.read(answer);
    }
    expect(asked()).toEqual(served === 'second' ? ['first', 'econd'] : ['first']);
    const row = await lastRow(stack);
    expect(row).toMatchObject({
      model: route.model,
      attempts: served === 'second' ? 2 : 1,
      outcome: served === 'refused' || served === 'broken' ? 'error' : 'ok',
    });
    if (route.model === 'omni-moderation-latest' || served === 'refused') expect(row.quota).toBe(0);
    else expect(row.quota + row.inputTokens).toBeGreaterThan(0);
    if (served === 'broken') expect(row.quota).toBeGreaterThan(0);
  };

  /** Events end with an error; sound has no words for one: its connection is cut. */
  const expectBroken = async (answer: Response): Promise<void> => {
    if (!answer.headers.get('content-type')!.startsWith('text/event-stream'))
      return expect(answer.arrayBuffer()).rejects.toThrow();
    const events = payloads(await answer.text());
    expect(JSON.parse(events.at(-1)!)).toHaveProperty('error.message');
    expect(events.length).toBe(3);
  };

  it.each(rows(wholeRoutes, wholeTable))('$name with $fault: $served', async ({ route, fault, served }) => {
    await check(route, fault, served);
  });

  it.each(rows(eventRoutes, eventTable))('$name with $fault: $served', async ({ route, fault, served }) => {
    await check(route, fault, served);
  });

  it.each(rows([speech], bytesTable))('$name with $fault: $served', async ({ route, fault, served }) => {
    await check(route, fault, served);
  });

  it('the client hears of the last failure when nobody is left', async () => {
    stack.simulator.faults.add({ match: {}, fault: { status: 503, retryAfter: 7 } });
    const answer = await speech.ask(stack);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('7');
    expect(await lastRow(stack)).toMatchObject({ quota: 0, attempts: 2, outcome: 'error' });
  });

  it('holds come back: what is available is what was not charged', async () => {
    const charged = (await stack.usage()).length;
    expect(charged).toBeGreaterThan(50);
    const key = await stack.gateway.ledger.accounts.usage({ limit: 1000 });
    const spent = key.reduce((sum, row) => sum + row.quota, 0);
    const [user] = await stack.gateway.ledger.accounts.listUsers();
    expect(user!.balance).toBe(50_000_000 - spent);
  });
});
