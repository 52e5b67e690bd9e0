import { describe, expect, it } from 'vitest';
import type { SessionMeter } from '../../engine/plugin.ts';
import openaiRealtime from '../../plugins/protocols/openai-realtime.ts';

const received = (meter: SessionMeter, event: object) => meter.received(Buffer.from(JSON.stringify(event)));
const done = (usage: unknown, status = 'completed') => ({ type: 'response.done', response: { status, usage } });
const created = () => openaiRealtime.vendor.meter();

describe('8 what an answer is said to have used', () => {
  it.each([
    [
      'text',
      { input_tokens: 20, output_tokens: 10, input_token_details: { text_tokens: 20, cached_tokens: 0 } },
      { input: 20, cachedInput: 0, audioInput: 0, output: 10, audioOutput: 0 },
    ],
    [
      'sound, some of it cached',
      {
        input_tokens: 100,
        output_tokens: 50,
        input_token_details: {
          text_tokens: 40,
          audio_tokens: 60,
          cached_tokens: 50,
          cached_tokens_details: { text_tokens: 30, audio_tokens: 20 },
        },
        output_token_details: { text_tokens: 10, audio_tokens: 40 },
      },
      { input: 100, cachedInput: 50, audioInput: 40, output: 50, audioOutput: 40 },
    ],
    [
      'cached without details: text first',
      {
        input_tokens: 100,
        output_tokens: 0,
        input_token_details: { text_tokens: 40, audio_tokens: 60, cached_tokens: 50 },
      },
      { input: 100, cachedInput: 50, audioInput: 50, output: 0, audioOutput: 0 },
    ],
    [
      'more parts than the whole',
      {
        input_tokens: 10,
        output_tokens: 5,
        input_token_details: { audio_tokens: 1000, cached_tokens: 4 },
        output_token_details: { audio_tokens: 99 },
      },
      { input: 10, cachedInput: 4, audioInput: 6, output: 5, audioOutput: 5 },
    ],
  ])('8 %s', (_what, usage, expected) => {
    expect(received(created(), done(usage))).toMatchObject({ kind: 'ok', usage: { ...expected, source: 'measured' } });
  });

  it('8 an answer that is reported twice is charged once', () => {
    const meter = created();
    const report = (id: string) => {
      const { type, response } = done({ input_tokens: 20, output_tokens: 10 });
      return received(meter, { type, response: { id, ...response } });
    };
    expect([report('one'), report('one'), report('two'), report('one')].map((part) => part !== null)).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });

  it.each([[{ input_tokens: 2e9, output_tokens: 1 }], [{ total_tokens: 5 }], ['much'], [null], [[]]])(
    '8 %j is no report: the answer is estimated',
    (usage) => {
      const meter = created();
      received(meter, { type: 'response.output_text.delta', delta: 'x'.repeat(400) });
      expect(received(meter, done(usage))).toMatchObject({ usage: { output: 100, source: 'estimated' } });
      expect(meter.unreported()).toBeNull();
    },
  );

  it('8 transcripts: tokens, or seconds', () => {
    const type = 'conversation.item.input_audio_transcription.completed';
    const tokens = { type: 'tokens', input_tokens: 14, output_tokens: 5, input_token_details: { audio_tokens: 14 } };
    expect(received(created(), { type, usage: tokens })).toMatchObject({
      usage: { input: 14, audioInput: 14, output: 5 },
    });
    expect(received(created(), { type, usage: { type: 'duration', seconds: 2.5 } })).toMatchObject({
      usage: { input: 0, seconds: 2.5 },
    });
    expect(received(created(), { type })).toBeNull();
  });

  it('8 a failed answer without a report costs nothing, and says why', () => {
    const meter = created();
    received(meter, { type: 'response.text.delta', delta: 'half' });
    const details = { type: 'failed', error: { type: 'server_error', code: 'inference_failed' } };
    expect(
      received(meter, { type: 'response.done', response: { status: 'failed', status_details: details, usage: null } }),
    ).toMatchObject({ kind: 'error', code: 'inference_failed', usage: { input: 0, output: 0 } });
    expect(meter.unreported()).toBeNull();
  });

  it('8 estimates know the format of the sound, also the beta’s', () => {
    const base64 = Buffer.alloc(8_000).toString('base64');
    for (const session of [
      { audio: { output: { format: { type: 'audio/pcmu' } }, input: { format: { type: 'audio/pcma' } } } },
      { output_audio_format: 'g711_ulaw', input_audio_format: 'g711_alaw' },
    ]) {
      const meter = created();
      received(meter, { type: 'session.updated', session });
      meter.sent(Buffer.from(JSON.stringify({ type: 'input_audio_buffer.append', audio: base64 })));
      expect(meter.unreported()).toBeNull();
      received(meter, { type: 'response.audio.delta', delta: base64 });
      const usage = meter.unreported()!;
      expect(usage.audioOutput).toBeGreaterThanOrEqual(20);
      expect(usage.audioOutput).toBeLessThanOrEqual(21);
      expect(usage.audioInput).toBeGreaterThanOrEqual(10);
      expect(usage.audioInput).toBeLessThanOrEqual(11);
    }
  });

  it('8 events are known by their type wherever it stands', () => {
    const usage = { input_tokens: 3, output_tokens: 4 };
    const meter = created();
    expect(
      meter.received(
        Buffer.from(`{"response":{"status":"completed","usage":${JSON.stringify(usage)}},"type":"response.done"}`),
      ),
    ).toMatchObject({ usage: { input: 3, output: 4 } });
    expect(meter.received(Buffer.from(`${' '.repeat(500)}{"type":"response.created"}`))).toBeNull();
    expect(meter.running).toBe(1);
    // The words of an answer are no event.
    expect(received(meter, { type: 'response.output_text.delta', delta: '{"type":"response.done"}' })).toBeNull();
    expect(meter.running).toBe(1);
  });
});
