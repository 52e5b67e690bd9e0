import OpenAI, { toFile } from 'openai';
import type { TranscriptionDiarized } from 'openai/resources/audio/transcriptions';
import { describe, expect, it } from 'vitest';
import { wavHeader } from '../../simulator/audio.ts';
import { payloadsOf, useSimulator } from './start.ts';
import { exchange } from './wire.ts';

const simulator = useSimulator();
const base = (): string => `${simulator.current.url}/openai/v1`;
const client = (): OpenAI => new OpenAI({ apiKey: 'sk-good', baseURL: base(), maxRetries: 0 });
/** Two and a half seconds, 24 kHz, 16 bits. */
const WAV = Buffer.concat([wavHeader(120_000, 24_000), Buffer.alloc(120_000)]);
const sound = (name = 'hello.wav', bytes: Uint8Array = WAV) => toFile(bytes, name);
const HEARD = 'You said: hello.wav of 120044 bytes – Grüße aus 東京 🙂';

interface Reply {
  readonly status: number;
  readonly type: string | null;
  readonly text: string;
}

/** Posts a form of text fields and one file. */
async function upload(path: string, fields: Record<string, string>, name = 'hello.wav', bytes = WAV): Promise<Reply> {
  const form = new FormData();
  for (const [field, text] of Object.entries(fields)) form.append(field, text);
  form.append('file', new Blob([bytes]), name);
  const headers = { authorization: 'Bearer sk-good' };
  const response = await fetch(`${base()}/audio/${path}`, { method: 'POST', headers, body: form });
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
}
const transcribe = (fields: Record<string, string>, name?: string, bytes?: Buffer<ArrayBuffer>) =>
  upload('transcriptions', { model: 'whisper-1', ...fields }, name, bytes);

describe('transcriptions', () => {
  it('tell name and size of the file, with seconds for whisper-1 and tokens for the others', async () => {
    const whisper = await client().audio.transcriptions.create({ model: 'whisper-1', file: await sound() });
    expect(whisper).toEqual({ text: HEARD, usage: { type: 'duration', seconds: 3 } });
    const other = await client().audio.transcriptions.create({
      model: 'gpt-4o-transcribe',
      file: await sound(),
      prompt: 'Say it [tokens=50]',
    });
    expect(other.usage).toEqual({
      type: 'tokens',
      input_tokens: 5 + 25,
      input_token_details: { text_tokens: 5, audio_tokens: 25 },
      output_tokens: 50,
      total_tokens: 80,
    });
  });

  it('take a second for 16000 bytes of what is no WAV', async () => {
    const reply = await transcribe({ response_format: 'verbose_json' }, 'talk.mp3', Buffer.alloc(40_000, 1));
    expect(JSON.parse(reply.text).duration).toBe(2.5);
  });

  it('come as text, SRT and VTT', async () => {
    const text = await transcribe({ response_format: 'text' });
    expect(text).toEqual({ status: 200, type: 'text/plain; charset=utf-8', text: `${HEARD}\n` });
    const srt = (await transcribe({ response_format: 'srt', prompt: '[chunks=2]' })).text;
    expect(srt).toMatch(/^1\n00:00:00,000 --> 00:00:01,250\nYou said.*\n\n2\n00:00:01,250 --> 00:00:02,500\n.*🙂\n\n$/);
    const vtt = (await transcribe({ response_format: 'vtt', prompt: '[chunks=1]' })).text;
    expect(vtt).toBe(`WEBVTT\n\n00:00:00.000 --> 00:00:02.500\n${HEARD}\n\n`);
  });

  it('come with segments and words', async () => {
    const reply = await client().audio.transcriptions.create({
      model: 'whisper-1',
      file: await sound(),
      language: 'de',
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
    });
    expect(reply).toMatchObject({ task: 'transcribe', language: 'german', duration: 2.5, text: HEARD });
    expect(reply.segments!.map(({ text }) => text).join('')).toBe(HEARD);
    expect(reply.segments!.at(-1)).toMatchObject({ id: 7, end: 2.5 });
    expect(reply.words!.map(({ word }) => word).join(' ')).toBe(HEARD);
    const words = await transcribe({ response_format: 'verbose_json', 'timestamp_granularities[]': 'word' });
    expect(JSON.parse(words.text)).not.toHaveProperty('segments');
  });

  it('come with speakers', async () => {
    const reply = (await client().audio.transcriptions.create({
      model: 'gpt-4o-transcribe-diarize',
      file: await sound('call[chunks=3].wav'),
      response_format: 'diarized_json',
      chunking_strategy: { type: 'server_vad', threshold: 0.5 },
      known_speaker_names: ['agent', 'customer'],
    })) as unknown as TranscriptionDiarized;
    expect(reply.segments.map(({ speaker }) => speaker)).toEqual(['agent', 'customer', 'agent']);
    expect(reply.segments[0]).toMatchObject({ type: 'transcript.text.segment', id: 'seg_001', start: 0 });
    expect(reply.text).toMatch(/^agent: You said/);
  });

  it('are streamed through the official client', async () => {
    const stream = await client().audio.transcriptions.create({
      model: 'gpt-4o-mini-transcribe',
      file: await sound(),
      prompt: '[chunks=5]',
      include: ['logprobs'],
      stream: true,
    });
    const events = [];
    for await (const event of stream) events.push(event);
    const deltas = events.flatMap((event) => (event.type === 'transcript.text.delta' ? [event] : []));
    expect(deltas).toHaveLength(5);
    expect(deltas.map(({ delta }) => delta).join('')).toBe(HEARD);
    expect(deltas[0]!.logprobs).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', text: HEARD, usage: { type: 'tokens' } });
  });

  it('are streamed as data frames alone, closed by [DONE], with a segment for each delta of a diarization', async () => {
    const fields = { model: 'gpt-4o-transcribe-diarize', stream: 'true' };
    const { type, text } = await transcribe(fields, 'x[chunks=2].wav');
    expect(type).toBe('text/event-stream; charset=utf-8');
    expect(text).not.toContain('event:');
    const payloads = payloadsOf(text);
    expect(payloads.pop()).toBe('[DONE]');
    expect(payloads.map((payload) => JSON.parse(payload).type.split('.').at(-1))).toEqual([
      ...['delta', 'segment', 'delta', 'segment'],
      'done',
    ]);
    expect((await transcribe({ stream: 'true' })).type).toBe('application/json');
  });

  it.each([
    [{ model: 'gpt-4o-transcribe', response_format: 'srt' }, 'response_format'],
    [{ model: 'gpt-4o-transcribe-diarize', response_format: 'verbose_json' }, 'response_format'],
    [{ response_format: 'diarized_json' }, 'response_format'],
    [{ response_format: 'xml' }, 'response_format'],
    [{ 'timestamp_granularities[]': 'word' }, 'timestamp_granularities'],
    [{ 'include[]': 'logprobs' }, 'include'],
    [{ known_speaker_names: 'me' }, 'known_speaker_names'],
    [{ model: 'gpt-4o-transcribe-diarize', prompt: 'x' }, 'prompt'],
    [{ model: 'gpt-4o-transcribe', chunking_strategy: '{"type":"magic"}' }, 'chunking_strategy.type'],
    [{ model: 'gpt-4o-transcribe', chunking_strategy: '{' }, 'chunking_strategy'],
    [{ language: 'German' }, 'language'],
    [{ temperature: '2' }, 'temperature'],
    [{ stream: 'yes' }, 'stream'],
    [{ foo: '1' }, 'foo'],
  ])('refuse %j', async (fields, param) => {
    const reply = await transcribe(fields);
    expect(reply.status).toBe(400);
    expect(JSON.parse(reply.text).error).toMatchObject({ type: 'invalid_request_error', param });
  });

  it('refuse files that are missing, empty, too large, of unknown kind, or too long to be diarized at once', async () => {
    expect(JSON.parse((await transcribe({}, 'hello.txt')).text).error).toMatchObject({ param: 'file' });
    expect(JSON.parse((await transcribe({}, 'a.mp3', Buffer.alloc(0))).text).error.code).toBe('audio_too_short');
    expect((await transcribe({}, 'a.mp3', Buffer.alloc(26_214_401))).status).toBe(413);
    const long = await transcribe({ model: 'gpt-4o-transcribe-diarize' }, 'a.mp3', Buffer.alloc(500_000));
    expect(JSON.parse(long.text).error).toMatchObject({ param: 'chunking_strategy' });
    const form = new FormData();
    form.append('model', 'whisper-1');
    const init = { method: 'POST', headers: { authorization: 'Bearer k' } };
    const missing = await fetch(`${base()}/audio/transcriptions`, { ...init, body: form });
    expect(await missing.json()).toMatchObject({ error: { param: 'file', code: 'missing_required_parameter' } });
    expect((await fetch(`${base()}/audio/transcriptions`, { ...init, body: '{}' })).status).toBe(415);
  });

  it('take 20 MB without delay, and keep only so much of what they received', async () => {
    const bytes = Buffer.alloc(20_000_000, 7);
    const start = performance.now();
    for (let index = 0; index < 8; index += 1) {
      const reply = await transcribe({}, 'long.mp3', bytes);
      expect(JSON.parse(reply.text).text).toContain('long.mp3 of 20000000 bytes');
    }
    expect((performance.now() - start) / 8).toBeLessThan(10_000);
    const kept = simulator.current.received.reduce((sum, { raw }) => sum + raw.length, 0);
    expect(kept).toBeLessThanOrEqual(128_000_000);
  });

  it('follow the faults of whole and streamed answers', async () => {
    const usage = JSON.parse((await transcribe({ model: 'whisper-1!nousage' })).text);
    expect(usage).toEqual({ text: HEARD });
    expect((await transcribe({ model: 'whisper-1!status=503' })).status).toBe(503);
    const stream = (fault: string) => transcribe({ model: `gpt-4o-transcribe!${fault}`, stream: 'true' });
    expect((await stream('nodone')).text).not.toContain('[DONE]');
    expect(payloadsOf((await stream('errorframe=2')).text)).toHaveLength(3);
    expect((await stream('nousage')).text).not.toContain('usage');
    await expect(stream('cut=3')).rejects.toThrow();
  });
});

describe('translations', () => {
  it('are to English, by whisper-1 alone', async () => {
    const reply = await client().audio.translations.create({ model: 'whisper-1', file: await sound() });
    expect(reply).toEqual({ text: HEARD });
    const verbose = JSON.parse(
      (await upload('translations', { model: 'whisper-1', response_format: 'verbose_json' })).text,
    );
    expect(verbose).toMatchObject({ task: 'translate', language: 'english', duration: 2.5 });
    const wrong = await upload('translations', { model: 'gpt-4o-transcribe' });
    expect(JSON.parse(wrong.text)).toMatchObject({ error: { param: 'model', code: 'invalid_value' } });
    expect((await upload('translations', { model: 'whisper-1', language: 'de' })).status).toBe(400);
  });
});

describe('speech', () => {
  const speak = (body: object) =>
    fetch(`${base()}/audio/speech`, {
      method: 'POST',
      headers: { authorization: 'Bearer k', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o-mini-tts', voice: 'cedar', input: 'Hello there', ...body }),
    });

  it.each([
    ['mp3', 'audio/mpeg'],
    ['opus', 'audio/opus'],
    ['aac', 'audio/aac'],
    ['flac', 'audio/flac'],
    ['wav', 'audio/wav'],
    ['pcm', 'audio/pcm'],
  ] as const)('comes as %s with the type %s, the same each time', async (format, type) => {
    const ask = () =>
      client().audio.speech.create({
        model: 'tts-1',
        voice: 'nova',
        input: 'Hello there',
        response_format: format,
      });
    const response = await ask();
    expect(response.headers.get('content-type')).toBe(type);
    expect(response.headers.get('transfer-encoding')).toBe('chunked');
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.length).toBeGreaterThan(2000);
    expect(Buffer.from(await (await ask()).arrayBuffer()).equals(bytes)).toBe(true);
  });

  it('is as long as the input asks, also in a WAV’s header', async () => {
    const bytes = Buffer.from(
      await (await speak({ input: '[bytes=96044] [chunks=5000]', response_format: 'wav' })).arrayBuffer(),
    );
    expect(bytes.length).toBe(96_044);
    expect(bytes.subarray(0, 44)).toEqual(wavHeader(96_000, 24_000));
    const slow = await (await speak({ speed: 0.5 })).arrayBuffer();
    const fast = await (await speak({ speed: 2 })).arrayBuffer();
    expect(slow.byteLength / fast.byteLength).toBeCloseTo(4, 1);
  });

  it('streams 20 MB no faster than they are read', async () => {
    const response = await speak({ input: '[bytes=20000000]' });
    const reader = response.body!.getReader();
    await reader.read();
    await new Promise((resolve) => setTimeout(resolve, 200));
    const paused = simulator.current.received.at(-1)!.events;
    expect(paused).toBeLessThan(300);
    let length = 0;
    for (let next = await reader.read(); !next.done; next = await reader.read()) length += next.value.length;
    expect(length).toBeGreaterThan(19_900_000);
    expect(simulator.current.received.at(-1)!.events).toBe(Math.ceil(20_000_000 / 65_536));
  });

  it('comes as events with usage', async () => {
    const response = await speak({ stream_format: 'sse', input: 'Hi [chunks=4] [tokens=90]', response_format: 'pcm' });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const events = payloadsOf(await response.text()).map((payload) => JSON.parse(payload));
    expect(events.map(({ type }) => type)).toEqual([...new Array(4).fill('speech.audio.delta'), 'speech.audio.done']);
    const whole = Buffer.from(
      await (await speak({ input: 'Hi [chunks=4] [tokens=90]', response_format: 'pcm' })).arrayBuffer(),
    );
    expect(Buffer.concat(events.slice(0, 4).map(({ audio }) => Buffer.from(audio, 'base64'))).equals(whole)).toBe(true);
    expect(events.at(-1).usage).toEqual({ input_tokens: 7, output_tokens: 90, total_tokens: 97 });
  });

  it.each([
    [{ input: '' }, 'input'],
    [{ input: 'x'.repeat(4097) }, 'input'],
    [{ input: undefined }, 'input'],
    [{ voice: undefined }, 'voice'],
    [{ voice: 'darth' }, 'voice'],
    [{ model: 'tts-1', voice: 'cedar' }, 'voice'],
    [{ model: 'tts-1', voice: 'nova', stream_format: 'sse' }, 'stream_format'],
    [{ response_format: 'midi' }, 'response_format'],
    [{ speed: 5 }, 'speed'],
    [{ foo: 1 }, 'foo'],
  ])('is refused for %j', async (body, param) => {
    const response = await speak(body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', param } });
  });

  it('is not for other models', async () => {
    expect((await speak({ model: 'whisper-1' })).status).toBe(404);
  });

  it('is cut, stalls and ends in nothing as asked', async () => {
    const body = (fault: string) => ({ model: `gpt-4o-mini-tts!${fault}`, voice: 'cedar', input: 'Hello there' });
    const path = '/openai/v1/audio/speech';
    const ask = (fault: string, patience = 10_000) =>
      exchange({ url: simulator.current.url, path, body: body(fault), patience });
    expect(await ask('cut=2')).toMatchObject({ status: 200, ending: 'end' });
    expect(simulator.current.received.at(-1)!.events).toBe(2);
    expect((await ask('stall=2', 200)).ending).toBe('open');
    const whole = await ask('nodone');
    for (const fault of ['crlf', 'hugeline', 'malformed=1', 'errorframe=2'])
      expect((await ask(fault)).body.equals(whole.body)).toBe(true);
    expect((await ask('empty200')).head).toContain('audio/mpeg');
    expect((await ask('wrongtype')).head).toContain('text/html');
    expect((await ask('reset=read')).ending).toBe('ECONNRESET');
    const sse = await speak({ model: 'gpt-4o-mini-tts!nousage', stream_format: 'sse' });
    expect(await sse.text()).not.toContain('usage');
  });
});
