import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeUpload } from '../../engine/http/upload-form.ts';
import { type Stack, startStack } from '../kit/stack.ts';
import { clientOf, formOf, lastRow, payloads, postForm, startVendor, startWith, wavFile } from './support.ts';

interface Form {
  readonly fields: Record<string, string | string[]>;
}

describe('4.1 POST /v1/audio/transcriptions', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack({
      edit({ models, channels }) {
        models.models['demo-diarize'] = { family: 'listening', price: { second: '0.0001' } };
        channels.channels['simulated-openai'].models['demo-diarize'] = 'gpt-4o-transcribe-diarize';
      },
    });
  });
  afterAll(() => stack.close());

  const sent = () => stack.simulator.received.at(-1)!;
  const ask = async (fields: Record<string, string | File>): Promise<Response> => {
    const answer = await postForm(stack, '/audio/transcriptions', formOf({ file: wavFile(2), ...fields }));
    expect(answer.status).toBe(200);
    return answer;
  };

  it('the official SDK gets text', async () => {
    const { text } = await clientOf(stack).audio.transcriptions.create({ model: 'demo-whisper', file: wavFile(2.5) });
    expect(text).toContain('speech.wav of 40044 bytes');
    // 3 seconds at 0.0001 USD
    expect(await lastRow(stack)).toMatchObject({ seconds: 3, quota: 150, usageSource: 'measured', outcome: 'ok' });
  });

  it.each([
    ['json', 'application/json'],
    ['verbose_json', 'application/json'],
    ['text', 'text/plain; charset=utf-8'],
    ['srt', 'text/plain; charset=utf-8'],
    ['vtt', 'text/plain; charset=utf-8'],
  ])('%s passes with its content type', async (response_format, type) => {
    const answer = await ask({ model: 'demo-whisper', response_format });
    expect(answer.headers.get('content-type')).toBe(type);
    const text = await answer.text();
    if (response_format === 'srt') expect(text).toMatch(/^1\n00:00:00,000 --> /);
    if (response_format === 'vtt') expect(text).toMatch(/^WEBVTT\n\n00:00:00.000 --> /);
    if (type === 'application/json') expect(JSON.parse(text).text).toContain('speech.wav');
    const row = await lastRow(stack);
    expect(row).toMatchObject({ seconds: 2, quota: 100 });
    // What the vendor does not tell is counted by the gateway.
    expect(row.usageSource).toBe(type === 'application/json' ? 'measured' : 'estimated');
  });

  it('diarized_json passes, and lists of fields in both ways of writing', async () => {
    const form = formOf({ file: wavFile(2), model: 'demo-diarize', response_format: 'diarized_json' });
    form.append('known_speaker_names[]', 'Ada');
    form.append('known_speaker_names[]', 'Bob');
    form.append('chunking_strategy', 'auto');
    const answer = await postForm(stack, '/audio/transcriptions', form);
    const { segments } = (await answer.json()) as { segments: { speaker: string }[] };
    expect(segments[0]!.speaker).toBe('Ada');
    expect((sent().body as Form).fields['known_speaker_names[]']).toEqual(['Ada', 'Bob']);
    expect(await lastRow(stack)).toMatchObject({ seconds: 2, quota: 100 });
  });

  it('models that count tokens are billed by them, those of audio apart', async () => {
    const { text, usage } = await clientOf(stack).audio.transcriptions.create({
      model: 'demo-transcribe',
      file: wavFile(10),
      prompt: 'names: Ada, Bob',
    });
    expect(text.length).toBeGreaterThan(0);
    expect(usage).toMatchObject({ type: 'tokens' });
    const row = await lastRow(stack);
    expect(row).toMatchObject({ audioInputTokens: 100, inputTokens: 104, usageSource: 'measured' });
    const dollars = (4 * 2.5 + 100 * 6 + row.outputTokens * 10) / 1e6;
    expect(row.quota).toBe(Math.round(dollars * 500_000));
  });

  it('streams events, the closing ones when the charge is booked', async () => {
    const stream = await clientOf(stack).audio.transcriptions.create({
      model: 'demo-transcribe',
      file: wavFile(2),
      stream: true,
    });
    const events: string[] = [];
    let text = '';
    for await (const event of stream) {
      events.push(event.type);
      if (event.type === 'transcript.text.delta') text += event.delta;
      if (event.type === 'transcript.text.done') expect(event.text).toBe(text);
    }
    expect(events.at(-1)).toBe('transcript.text.done');
    expect(events.length).toBeGreaterThan(2);
    expect(await lastRow(stack)).toMatchObject({ audioInputTokens: 20, usageSource: 'measured', outcome: 'ok' });
  });

  it('a stream passes byte for byte, its marker too', async () => {
    const answer = await ask({ model: 'demo-transcribe', stream: 'true' });
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const text = await answer.text();
    expect(payloads(text).at(-1)).toBe('[DONE]');
    expect(text).not.toContain('gateway');
  });

  it('a model that does not stream answers as a whole', async () => {
    const answer = await ask({ model: 'demo-whisper', stream: 'true' });
    expect(await answer.json()).toHaveProperty('text');
  });

  it('the form keeps its fields in their order, and the file its name', async () => {
    const form = new FormData();
    form.append('language', 'en');
    form.append('file', wavFile(1, 'Grüße "1".wav'));
    form.append('timestamp_granularities[]', 'word');
    form.append('model', 'demo-whisper');
    form.append('timestamp_granularities[]', 'segment');
    form.append('response_format', 'verbose_json');
    expect((await postForm(stack, '/audio/transcriptions', form)).status).toBe(200);
    const { raw, headers } = sent();
    expect([...raw.toString('latin1').matchAll(/; name="([^"]*)"/g)].map(([, name]) => name)).toEqual([
      'language',
      'file',
      'timestamp_granularities[]',
      'model',
      'timestamp_granularities[]',
      'response_format',
    ]);
    expect(raw.toString()).toContain('filename="Grüße %221%22.wav"\r\nContent-Type: audio/wav\r\n');
    expect(headers['content-length']).toBe(String(raw.length));
    expect(headers['transfer-encoding']).toBeUndefined();
    expect((sent().body as Form).fields.model).toBe('whisper-1');
  });

  it('names cannot write headers', async () => {
    const field = { kind: 'field', name: 'a"\r\nX-Evil: 1', value: 'x' } as const;
    const file = {
      kind: 'file',
      name: 'file',
      fileName: `${'long'.repeat(100)}\0a\r\nX-Evil: 1".wav`,
      mediaType: 'audio/wav\r\nX-Evil: 1',
      length: 5,
      head: Buffer.from('sound'),
      async *read() {
        yield Buffer.from('sound');
      },
    } as const;
    const { body, contentType } = encodeUpload({ parts: [field, file], fingerprint: [] }, 'any', null);
    const pieces: Buffer[] = [];
    for await (const piece of body.read()) pieces.push(piece);
    const text = Buffer.concat(pieces).toString('latin1');
    expect(text).toHaveLength(body.length);
    expect(text).not.toMatch(/^X-Evil/m);
    expect(text).toContain('_a%0D%0AX-Evil: 1%22.wav"\r\nContent-Type: application/octet-stream\r\n\r\nsound\r\n');
    expect(text.endsWith(`--${contentType.split('boundary=')[1]}--\r\n`)).toBe(true);
  });

  it('a channel’s own parameters are laid over the form', async () => {
    await stack.rewrite(({ channels }) => {
      for (const name of ['simulated-openai', 'simulated-openai-spare'])
        channels.channels[name].parameters = { set: { temperature: 0.2, include: ['logprobs'] }, remove: ['language'] };
    });
    await stack.gateway.reload();
    await ask({ model: 'demo-transcribe', language: 'en', temperature: '1', 'include[]': 'x' });
    expect((sent().body as Form).fields).toEqual({
      model: 'gpt-4o-transcribe',
      temperature: '0.2',
      'include[]': 'logprobs',
    });
    await stack.rewrite(({ channels }) => {
      for (const name of ['simulated-openai', 'simulated-openai-spare']) delete channels.channels[name].parameters;
    });
    await stack.gateway.reload();
  });

  const file = () => wavFile(1);
  it.each([
    ['no file', { model: 'demo-whisper' }, 'missing_required_parameter', 'file'],
    ['a file that is text', { model: 'demo-whisper', file: 'abc' }, 'invalid_value', 'file'],
    ['an empty file', { model: 'demo-whisper', file: new File([], 'a.wav') }, 'invalid_value', 'file'],
    ['no model', { file: file() }, 'missing_required_parameter', 'model'],
    ['an unknown model', { file: file(), model: 'nobody' }, 'model_not_found', 'model'],
    ['a model for chat', { file: file(), model: 'demo-chat' }, 'unsupported_endpoint', 'model'],
  ])('%s is refused before any vendor is asked', async (_name, fields, code, param) => {
    const before = stack.simulator.received.length;
    const answer = await postForm(stack, '/audio/transcriptions', formOf(fields as Record<string, string | File>));
    expect(answer.status).toBe(code === 'model_not_found' ? 404 : 400);
    expect(await answer.json()).toMatchObject({ error: { code, param } });
    expect(stack.simulator.received).toHaveLength(before);
  });

  it.each(['url', 'file_url', 'file_id'])(
    '8 another sound by `%s` is refused: it is the file that is counted',
    async (name) => {
      const form = formOf({ file: file(), model: 'demo-whisper', [name]: 'https://a.test/long.mp3' });
      const answer = await postForm(stack, '/audio/transcriptions', form);
      expect(await answer.json()).toMatchObject({ error: { code: 'unsupported_parameter', param: name } });
    },
  );

  it('two models are a contradiction', async () => {
    const form = formOf({ file: file(), model: 'demo-whisper' });
    form.append('model', 'demo-transcribe');
    const answer = await postForm(stack, '/audio/transcriptions', form);
    expect(await answer.json()).toMatchObject({ error: { code: 'conflicting_parameters', param: 'model' } });
  });

  it('two formats are a contradiction: vendors may answer either', async () => {
    const form = formOf({ file: file(), model: 'demo-whisper', response_format: 'json' });
    form.append('response_format', 'text');
    const answer = await postForm(stack, '/audio/transcriptions', form);
    expect(await answer.json()).toMatchObject({ error: { code: 'conflicting_parameters', param: 'response_format' } });
  });

  it.each(['model', 'stream', 'response_format'])(
    '%s as a file beside the field is refused: a vendor may read either',
    async (name) => {
      const form = formOf({ file: file(), model: 'demo-whisper' });
      form.append(name, new File(['gpt-4o-transcribe'], 'model.txt', { type: 'text/plain' }));
      const answer = await postForm(stack, '/audio/transcriptions', form);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ error: { code: 'invalid_value', param: name } });
    },
  );

  it('JSON is refused with 415', async () => {
    const answer = await stack.post('/audio/transcriptions', { model: 'demo-whisper' });
    expect(answer.status).toBe(415);
  });

  it('the same Idempotency-Key gets the first answer; another file is a conflict', async () => {
    const headers = { 'idempotency-key': 'once' };
    const post = (seconds: number) =>
      postForm(
        stack,
        '/audio/transcriptions',
        formOf({ model: 'demo-whisper', response_format: 'srt', file: wavFile(seconds) }),
        headers,
      );
    const first = await post(1);
    const rows = (await stack.usage()).length;
    const second = await post(1);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await second.text()).toBe(await first.text());
    expect((await post(2)).status).toBe(409);
    expect((await stack.usage()).filter(({ quota }) => quota > 0).length).toBeLessThanOrEqual(rows);
  });
});

describe('4.1 POST /v1/audio/translations', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack();
  });
  afterAll(() => stack.close());

  it('the official SDK gets English text', async () => {
    const { text } = await clientOf(stack).audio.translations.create({ model: 'demo-whisper', file: wavFile(3) });
    expect(text).toContain('speech.wav');
    expect(stack.simulator.received.at(-1)!.path).toBe('/openai/v1/audio/translations');
    // OpenAI tells no usage here: the head of the file does.
    expect(await lastRow(stack)).toMatchObject({ seconds: 3, quota: 150, usageSource: 'estimated' });
  });

  it('verbose_json tells how long the sound was', async () => {
    const form = formOf({ model: 'demo-whisper', file: wavFile(3), response_format: 'verbose_json' });
    const answer = await postForm(stack, '/audio/translations', form);
    expect(await answer.json()).toMatchObject({ task: 'translate', duration: 3 });
    expect(await lastRow(stack)).toMatchObject({ seconds: 3, quota: 150, usageSource: 'measured' });
  });

  it('a model that does not translate is refused', async () => {
    const form = formOf({ model: 'demo-transcribe', file: wavFile(1) });
    const answer = await postForm(stack, '/audio/translations', form);
    expect(await answer.json()).toMatchObject({ error: { code: 'unsupported_endpoint' } });
  });
});

describe('8 what nobody tells is estimated', () => {
  it.each([
    ['the last caption of a vtt', 'vtt', 'WEBVTT\n\n00:01.000 --> 01:02.500\nhi\n', 'text/vtt', 62.5],
    ['the last caption of an srt', 'srt', '1\n00:00:01,000 --> 00:00:04,250\nhi\n', '', 4.25],
    ['the size of a file of an unknown length', 'text', 'hi\n', 'text/plain', 10],
    ['so many words, which need their time', 'text', 'words'.repeat(100), 'text/plain', 20],
    ['what such a file can hold, whatever a vendor says', 'text', 'words'.repeat(100_000), 'text/plain', 160],
  ])('by %s', async (_name, response_format, body, type, seconds) => {
    const vendor = await startVendor((incoming, response) => {
      incoming.resume();
      incoming.on('end', () => {
        if (type !== '') response.setHeader('content-type', type);
        response.end(body);
      });
    });
    const stack = await startWith(vendor.baseUrl, 'demo-whisper');
    const file = new File([new Uint8Array(160_000)], 'sound.mp3', { type: 'audio/mpeg' });
    const form = formOf({ model: 'demo-whisper', response_format, file });
    const answer = await postForm(stack, '/audio/transcriptions', form);
    expect(await answer.text()).toBe(body);
    expect(answer.headers.get('content-type')).toBe(type || 'text/plain; charset=utf-8');
    expect(await lastRow(stack)).toMatchObject({ seconds, usageSource: 'estimated', quota: Math.round(seconds * 50) });
    await stack.close();
    vendor.close();
  });
});
