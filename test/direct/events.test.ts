/** The taps of streamed audio: however the bytes are split, the client gets them and the usage is the same. */
import { describe, expect, it } from 'vitest';
import type { DirectCall, DirectTap } from '../../engine/contract/direct.ts';
import { noUsage } from '../../engine/contract/usage.ts';
import speech from '../../plugins/protocols/openai-speech.ts';
import transcriptions from '../../plugins/protocols/openai-transcriptions.ts';

const call: DirectCall = {
  kind: 'direct',
  operation: 'audio.speech',
  model: 'any',
  stream: true,
  bound: noUsage,
  known: {},
  body: {},
  form: null,
};

const frame = (data: object, event?: string): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;

const transcript = [
  ': a comment\n\n',
  frame({ type: 'transcript.text.delta', delta: 'Grüße \\"error\\" 👩‍🚀' }),
  frame({ type: 'transcript.text.delta', delta: 'transcript.text.done' }),
  frame({
    type: 'transcript.text.done',
    text: 'all',
    usage: { type: 'tokens', input_tokens: 14, input_token_details: { audio_tokens: 12 }, output_tokens: 3 },
  }),
  'data: [DONE]\n\n',
].join('');
const spoken = [
  frame({ type: 'speech.audio.delta', audio: 'SUQz' }),
  frame({ type: 'speech.audio.done', usage: { input_tokens: 12, output_tokens: 90 } }),
].join('');

interface Seen {
  readonly text: string;
  readonly closing: string;
  readonly counts: object;
  readonly complete: boolean;
}

function run(events: DirectTap, pieces: readonly Buffer[]): Seen {
  const out: Buffer[] = [];
  for (const piece of pieces) out.push(events.tap.push(piece) ?? Buffer.alloc(0));
  out.push(events.tap.flush() ?? Buffer.alloc(0));
  const { complete } = events.tap;
  const closing = events.tap.closing().toString();
  return { text: Buffer.concat(out).toString(), closing, counts: events.counts(), complete };
}

describe.each([
  ['transcriptions', transcriptions, transcript, { input: 14, audioInput: 12, output: 3 }],
  ['speech', speech, spoken, { input: 12, output: 90, audioOutput: 90 }],
])('the tap of %s', (_name, { relay }, stream, counts) => {
  const tap = (): DirectTap => relay!.events!(call);

  it.each(['\n', '\r\n', '\r'])('passes every byte at any split, lines ended by %j', (lineEnd) => {
    const bytes = Buffer.from(stream.replaceAll('\n', lineEnd));
    for (let position = 0; position <= bytes.length; position++) {
      const seen = run(tap(), [bytes.subarray(0, position), bytes.subarray(position)]);
      expect(seen.text + seen.closing).toBe(bytes.toString());
      expect(seen).toMatchObject({ counts, complete: true });
      expect(seen.closing).toContain('.done');
      expect(seen.text).not.toContain('[DONE]');
    }
  });

  it('byte by byte', () => {
    const pieces = [...Buffer.from(stream)].map((byte) => Buffer.from([byte]));
    const seen = run(tap(), pieces);
    expect(seen.text + seen.closing).toBe(stream);
    expect(seen.counts).toEqual(counts);
  });

  it('a stream that ends before its last event is not complete', () => {
    expect(run(tap(), [Buffer.from(stream.slice(0, stream.indexOf('.done') - 30))]).complete).toBe(false);
  });

  it.each([
    ['an error object', frame({ error: { message: 'too much', code: 'overloaded' } }), 'too much'],
    ['an error event', frame({ message: 'too much' }, 'error'), 'too much'],
    ['an event of the type error', frame({ type: 'error', error: { message: 'too much' } }), 'too much'],
    ['something that is no JSON, first', 'data: <html>\n\n', 'not JSON'],
  ])('%s is an error, and does not reach the client', (_what, text, message) => {
    const events = tap();
    expect(events.tap.push(Buffer.from(text))).toBeNull();
    expect(events.tap.error?.message).toContain(message);
  });
});
