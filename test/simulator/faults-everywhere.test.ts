/** Every fault of an answer over HTTP, with every vendor, whole and streamed. */
import { describe, expect, it } from 'vitest';
import { useSimulator } from './start.ts';
import { type Exchange, exchange, unchunk } from './wire.ts';

const simulator = useSimulator({ images: 'small' });
const messages = [{ role: 'user', content: 'Hello' }];
const contents = [{ role: 'user', parts: [{ text: 'Hello' }] }];
const drawing = { contents, generationConfig: { responseModalities: ['IMAGE'] } };
const ranking = { query: 'red fox', documents: ['a red fox', 'a hat'] };
const withUsage = { stream: true, stream_options: { include_usage: true } };

interface Target {
  readonly path: string;
  readonly model: string;
  readonly body: object;
  /** Absent for an answer that comes whole; `array` is Gemini's stream of one JSON array. */
  readonly stream?: 'sse' | 'array';
}

const targets: Record<string, Target> = {
  'OpenAI chat': { path: '/openai/v1/chat/completions', model: 'gpt-4.1-mini', body: { messages } },
  'OpenAI chat, streamed': {
    path: '/openai/v1/chat/completions',
    model: 'gpt-4.1-mini',
    body: { messages, ...withUsage },
    stream: 'sse',
  },
  'OpenAI completions': { path: '/openai/v1/completions', model: 'gpt-3.5-turbo-instruct', body: { prompt: 'Hi' } },
  'OpenAI completions, streamed': {
    path: '/openai/v1/completions',
    model: 'gpt-3.5-turbo-instruct',
    body: { prompt: 'Hi', ...withUsage },
    stream: 'sse',
  },
  'OpenAI responses': { path: '/openai/v1/responses', model: 'gpt-4.1-mini', body: { input: 'Hello' } },
  'OpenAI responses, streamed': {
    path: '/openai/v1/responses',
    model: 'gpt-4.1-mini',
    body: { input: 'Hello', stream: true },
    stream: 'sse',
  },
  'OpenAI images': { path: '/openai/v1/images/generations', model: 'gpt-image-2', body: { prompt: 'a fox' } },
  'OpenAI images, streamed': {
    path: '/openai/v1/images/generations',
    model: 'gpt-image-2',
    body: { prompt: 'a fox', stream: true, partial_images: 2 },
    stream: 'sse',
  },
  'OpenAI embeddings': {
    path: '/openai/v1/embeddings',
    model: 'text-embedding-3-small',
    body: { input: 'fox', dimensions: 8 },
  },
  'Anthropic messages': {
    path: '/anthropic/v1/messages',
    model: 'claude-sonnet-5-5',
    body: { messages, max_tokens: 99 },
  },
  'Anthropic messages, streamed': {
    path: '/anthropic/v1/messages',
    model: 'claude-sonnet-5-5',
    body: { messages, max_tokens: 99, stream: true },
    stream: 'sse',
  },
  'Gemini text': { path: '/gemini/v1beta/models/MODEL:generateContent', model: 'gemini-3.6-flash', body: { contents } },
  'Gemini text, streamed': {
    path: '/gemini/v1beta/models/MODEL:streamGenerateContent?alt=sse',
    model: 'gemini-3.6-flash',
    body: { contents },
    stream: 'sse',
  },
  'Gemini text, as an array': {
    path: '/gemini/v1beta/models/MODEL:streamGenerateContent',
    model: 'gemini-3.6-flash',
    body: { contents },
    stream: 'array',
  },
  'Gemini images': { path: '/gemini/v1beta/models/MODEL:generateContent', model: 'gemini-3-pro-image', body: drawing },
  'Gemini images, streamed': {
    path: '/gemini/v1beta/models/MODEL:streamGenerateContent?alt=sse',
    model: 'gemini-3-pro-image',
    body: drawing,
    stream: 'sse',
  },
  'xAI images': {
    path: '/xai/v1/images/generations',
    model: 'grok-imagine-image',
    body: { prompt: 'a fox', response_format: 'b64_json' },
  },
  'Cohere rerank': { path: '/cohere/v2/rerank', model: 'rerank-v3.5', body: ranking },
  'Jina rerank': { path: '/jina/v1/rerank', model: 'jina-reranker-v3', body: ranking },
};

function ask({ path, model, body }: Target, fault = '', patience = 3000): Promise<Exchange> {
  const name = fault === '' ? model : `${model}!${fault}`;
  const inPath = path.includes('MODEL');
  return exchange({
    url: simulator.current.url,
    path: path.replace('MODEL', name),
    body: inPath ? body : { model: name, ...body },
    patience,
    headers: 'x-api-key: k\r\nanthropic-version: 2023-06-01\r\n',
  });
}

const lengthOf = ({ head }: Exchange): number => Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN);
const isChunked = ({ head }: Exchange): boolean => /transfer-encoding: chunked/i.test(head);
const textOf = (answer: Exchange): string => (isChunked(answer) ? unchunk(answer.body).text : answer.body.toString());
/** Whether the answer came to the end that its head promises. */
const isWhole = (answer: Exchange): boolean =>
  isChunked(answer) ? unchunk(answer.body).complete : answer.body.length === lengthOf(answer);
/** Without ids and times, which differ from one answer to the next. */
const comparable = (text: string): string =>
  text.replace(/sim[0-9a-z]{6}/g, 'ID').replace(/("(?:created|created_at|completed_at)":)\d+/g, '$10');

/** The JSON values of a stream of either kind. */
function eventsOf(text: string, kind: 'sse' | 'array'): string[] {
  if (kind === 'array') return text.split(',\r\n{').map((piece) => piece.replace(/^\[?\{?/, '{').replace(/\]$/, ''));
  const frames = text.split(/\r?\n\r?\n/).filter((frame) => frame.trim() !== '');
  return frames.map((frame) => /^data: ?(.*)/ms.exec(frame.slice(frame.indexOf('data:')))?.[1] ?? '');
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return text.trim() === '[DONE]';
  }
}

/** The text of an error body of any vendor. */
function errorText(body: string): string {
  const value = JSON.parse(body);
  const { error, message, detail } = Array.isArray(value) ? value[0] : value;
  const text = error?.message ?? error ?? message ?? detail;
  expect(text).toBeTypeOf('string');
  return text;
}

describe.each(Object.entries(targets))('%s', (_name, target) => {
  const { stream } = target;
  const plain = async () => {
    const answer = await ask(target);
    expect(answer.status, textOf(answer)).toBe(200);
    expect(isWhole(answer)).toBe(true);
    return textOf(answer);
  };

  it('latency', async () => {
    const started = performance.now();
    const { status, arrivals } = await ask(target, 'latency=60');
    expect(status).toBe(200);
    expect(arrivals[0]!.at - started).toBeGreaterThanOrEqual(55);
  });

  it.each([400, 403, 404, 429, 500, 503])('status=%i', async (status) => {
    const answer = await ask(target, `status=${status}`);
    expect(answer.status).toBe(status);
    expect(answer.head).toContain('application/json');
    expect(errorText(textOf(answer)).length).toBeGreaterThan(5);
  });

  it('retryAfter', async () => {
    const answer = await ask(target, 'status=429,retryAfter=17');
    const inBody = JSON.stringify({ retryDelay: '17s' }).slice(1, -1);
    expect(`${answer.head}\r\n${textOf(answer)}`).toContain(
      target.path.startsWith('/gemini/') ? inBody : 'retry-after: 17\r\n',
    );
  });

  it('error200', async () => {
    const answer = await ask(target, 'error200');
    expect(answer.status).toBe(200);
    expect(errorText(textOf(answer)).length).toBeGreaterThan(5);
  });

  it('empty200, wrongtype', async () => {
    const typeOf = ({ head }: Exchange): string => /content-type: ([^;\r]*)/i.exec(head)![1]!;
    const empty = await ask(target, 'empty200');
    expect([empty.status, textOf(empty), isWhole(empty)]).toEqual([200, '', true]);
    expect(typeOf(empty)).toBe(typeOf(await ask(target)));
    const page = await ask(target, 'wrongtype');
    expect([page.status, typeOf(page)]).toEqual([200, 'text/html']);
  });

  it('nousage', async () => {
    const usage = /"(?:usage|usageMetadata|billed_units)":\{/;
    expect(await plain()).toMatch(usage);
    expect(textOf(await ask(target, 'nousage'))).not.toMatch(usage);
  });

  it('nodone', async () => {
    const before = await plain();
    const after = textOf(await ask(target, 'nodone'));
    expect(comparable(before).startsWith(comparable(after))).toBe(true);
    if (/\[DONE\]|message_stop|response\.completed/.test(before)) {
      expect(after).not.toMatch(/\[DONE\]|message_stop|event: response\.completed/);
      expect(after.length).toBeLessThan(before.length);
    } else expect(comparable(after)).toBe(comparable(before));
  });

  it('malformed', async () => {
    const answer = await ask(target, 'malformed=1');
    expect([answer.status, isWhole(answer)]).toEqual([200, true]);
    if (!stream) expect(parses(textOf(answer))).toBe(false);
    else if (stream === 'array') expect(parses(textOf(answer))).toBe(false);
    else {
      const events = eventsOf(textOf(answer), stream);
      expect(events.map((event, index) => (parses(event) ? -1 : index)).filter((index) => index >= 0)).toEqual([1]);
    }
  });

  it('errorframe', async () => {
    const answer = await ask(target, 'errorframe=1');
    expect([answer.status, isWhole(answer)]).toEqual([200, true]);
    if (!stream) return expect(comparable(textOf(answer))).toBe(comparable(await plain()));
    const events = eventsOf(textOf(answer), stream);
    expect(events).toHaveLength(2);
    expect(parses(events[0]!)).toBe(true);
    const value = JSON.parse(events[1]!);
    expect(JSON.stringify(value.error ?? value.response.error)).toContain('"message"');
  });

  it('hugeline', async () => {
    const text = textOf(await ask(target, 'hugeline=100000'));
    expect(text.length).toBeGreaterThan(100_000);
    if (stream === 'sse') expect(eventsOf(text, stream).every(parses)).toBe(true);
    else expect(parses(text)).toBe(true);
    expect(comparable(text.replace(/ {100000}/, ''))).toBe(comparable(await plain()));
  });

  it('crlf', async () => {
    const text = textOf(await ask(target, 'crlf'));
    const before = await plain();
    if (stream === 'sse') expect(text).toMatch(/^(?:[^\r\n]*\r\n)+$/);
    expect(comparable(text.replaceAll('\r\n', '\n'))).toBe(comparable(before.replaceAll('\r\n', '\n')));
  });

  it('cut', async () => {
    const answer = await ask(target, 'cut=1');
    expect([answer.status, answer.ending, isWhole(answer)]).toEqual([200, 'end', false]);
    const before = comparable(await plain());
    const text = comparable(textOf(answer));
    expect(text.length).toBeGreaterThan(0);
    expect(text.length).toBeLessThan(before.length);
    expect(before.startsWith(text)).toBe(true);
    if (stream) expect(unchunk(answer.body).chunks).toHaveLength(1);
  });

  it('cutbody', async () => {
    const answer = await ask(target, 'cutbody=20');
    expect([answer.status, textOf(answer).length, isWhole(answer)]).toEqual([200, 20, false]);
  });

  it('stall', async () => {
    const answer = await ask(target, 'stall=1', 250);
    expect([answer.status, answer.ending, isWhole(answer)]).toEqual([200, 'open', false]);
    expect(textOf(answer).length).toBeGreaterThan(0);
    await expect.poll(() => simulator.current.received.at(-1)!.aborted).toBe(true);
  });

  it('delay', async () => {
    const started = performance.now();
    const { arrivals, status } = await ask(target, 'delay=15,cut=4');
    expect(status).toBe(200);
    const { events } = simulator.current.received.at(-1)!;
    expect(events).toBeGreaterThan(0);
    if (stream) expect(arrivals.at(-1)!.at - started).toBeGreaterThanOrEqual(14 * (events - 1));
  });

  it('trickle', async () => {
    const before = await plain();
    const size = Math.ceil(before.length / 20);
    const answer = await ask(target, `trickle=${size}`);
    expect(comparable(textOf(answer))).toBe(comparable(before));
    expect(answer.arrivals.length).toBeGreaterThan(5);
  });

  it('split', async () => {
    const answer = await ask(target, 'split=7');
    expect(comparable(textOf(answer))).toBe(comparable(await plain()));
    if (isChunked(answer)) expect(unchunk(answer.body).chunks.every(({ length }) => length <= 7)).toBe(true);
    expect(simulator.current.received[0]!.events).toBe(Math.ceil(Buffer.byteLength(textOf(answer)) / 7));
  });

  it('length', async () => {
    const longer = await ask(target, 'length=longer');
    expect([longer.status, lengthOf(longer) - longer.body.length, longer.ending]).toEqual([200, 64, 'end']);
    const shorter = await ask(target, 'length=shorter');
    expect([shorter.status, lengthOf(shorter) - shorter.body.length]).toEqual([200, -64]);
    expect(comparable(shorter.body.toString())).toBe(comparable(await plain()));
  });

  it('reset', async () => {
    expect(await ask(target, 'reset=read')).toMatchObject({ status: undefined, ending: 'ECONNRESET' });
    simulator.current.faults.add({ match: { times: 1 }, fault: { reset: 'now' } });
    expect(await ask(target)).toMatchObject({ status: undefined, ending: 'ECONNRESET' });
    await plain();
  });

  it('lenient', async () => {
    const odd = { ...target, body: { ...target.body, odd_field: 1 } };
    const strict = await ask(odd);
    expect(strict.status).toBeGreaterThanOrEqual(400);
    expect((await ask(odd, 'lenient')).status).toBe(200);
  });

  it.each(['safety', 'some', 'prompt', 'noimage'])('refuse=%s, without usage', async (kind) => {
    const answer = await ask(target, `refuse=${kind},nousage`);
    expect(isWhole(answer)).toBe(true);
    expect(textOf(answer)).not.toMatch(/"(?:usage|usageMetadata)":\{/);
    const draws = target.model.includes('image');
    if (draws) expect(textOf(answer)).not.toMatch(/"(?:b64_json|data)":"/);
    else if (kind === 'noimage' && target.path.startsWith('/openai/v1/chat'))
      expect(comparable(textOf(answer))).toBe(comparable(textOf(await ask(target, 'nousage'))));
  });
});
