/** Both forms of a native stream: events and one JSON array; relayed and translated; whole, broken, blocked. */
import { afterEach, describe, expect, it } from 'vitest';
import { startVendor } from '../e2e/chat-support.ts';
import { type Stack, startStack } from '../kit/stack.ts';
import { chatVendors, clientOf, lastRow, postNative, startShop } from './kit.ts';

let stack: Stack;
afterEach(() => stack.close());

const asking = (text: string) => ({ contents: [{ role: 'user', parts: [{ text }] }] });

interface Piece {
  readonly error?: { readonly code: number; readonly status: string; readonly message: string };
  readonly candidates?: readonly {
    readonly content?: { readonly parts?: readonly { readonly text?: string }[] };
    readonly finishReason?: string;
  }[];
  readonly usageMetadata?: Record<string, unknown>;
  readonly promptFeedback?: object;
}

const forms = ['events', 'array'] as const;
const actionOf = (model: string, form: string) =>
  `${model}:streamGenerateContent${form === 'events' ? '?alt=sse' : ''}`;

async function piecesOf(response: Response): Promise<Piece[]> {
  const text = await response.text();
  if (response.headers.get('content-type')!.startsWith('application/json')) return JSON.parse(text) as Piece[];
  const frames = text.split('\n\n');
  expect(frames.pop()).toBe('');
  return frames.map((frame) => JSON.parse(frame.replace(/^data: /, '')) as Piece);
}

const spoken = (pieces: readonly Piece[]): string =>
  pieces.flatMap(({ candidates }) => candidates?.[0]?.content?.parts?.map(({ text }) => text ?? '') ?? []).join('');

/** As real ones do not write it: unknown members, blanks, names of the gateway's own interest within texts. */
const frames = [
  '{ "candidates": [ {"content":{"parts":[{"text":"\\u00fcber \\"usageMetadata\\": {"}],"role":"model"},"index":0} ],"x":{"y":[1, 2]}}',
  '{"candidates":[{"content":{"parts":[{"text":"東京 🙂\\n\\ndata: no"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":11,"totalTokenCount":11}}',
  '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"finishReason":"x"}},"thoughtSignature":"Eo8B"}],"role":"model"},"index":0}]}',
  '{"candidates":[{"finishReason":"STOP","index":0,"groundingMetadata":{"webSearchQueries":["q"]}}],"usageMetadata":{"promptTokenCount":11,"toolUsePromptTokenCount":2,"candidatesTokenCount":7,"thoughtsTokenCount":5,"cachedContentTokenCount":3,"totalTokenCount":25}}',
];

async function startScripted(write: Parameters<typeof startVendor>[0]) {
  const vendor = await startVendor(write);
  stack = await startStack({
    edit({ channels }) {
      channels.channels = {
        scripted: {
          vendor: 'gemini',
          baseUrl: vendor.baseUrl,
          credentials: ['k'],
          groups: ['default'],
          models: { 'demo-gemini': 'gemini-3.6-flash' },
        },
      };
    },
  });
  return vendor;
}

describe('4.1 the relay', () => {
  it.each(['\n\n', '\r\n\r\n'])('4.1 hands every byte of an event on, ended by %j', async (blank) => {
    const sent = frames.map((frame) => `data: ${frame}${blank}`).join('');
    const vendor = await startScripted((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(sent);
    });
    const body = {
      ...asking('Hi'),
      safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'OFF' }],
      new_field: [1],
    };
    const response = await postNative(stack, actionOf('demo-gemini', 'events'), body);
    expect(await response.text()).toBe(sent);
    expect(vendor.requests[0]!.body.toString()).toBe(JSON.stringify(body));
    expect(await lastRow(stack)).toMatchObject({
      inputTokens: 13,
      cachedInputTokens: 3,
      outputTokens: 12,
      reasoningTokens: 5,
      usageSource: 'measured',
    });
    await vendor.close();
  });

  it('4.1 asks for events and hands the bytes of every element of an array on', async () => {
    const paths: string[] = [];
    const vendor = await startScripted((response) => {
      paths.push(response.req.url!);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const frame of frames) response.write(`: comment\n\ndata: ${frame}\n\n`);
      response.end();
    });
    const response = await postNative(stack, actionOf('demo-gemini', 'array'), asking('Hi'));
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.text()).toBe(`[${frames.join(',\r\n')}]`);
    expect(paths).toEqual(['/v1/models/gemini-3.6-flash:streamGenerateContent?alt=sse']);
    expect(await lastRow(stack)).toMatchObject({ inputTokens: 13, outputTokens: 12 });
    await vendor.close();
  });

  it('4.1 hands a whole answer on byte by byte', async () => {
    const vendor = await startScripted((response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(frames[3]);
    });
    const response = await postNative(stack, 'demo-gemini:generateContent', asking('Hi'));
    expect(await response.text()).toBe(frames[3]);
    expect(await lastRow(stack)).toMatchObject({ inputTokens: 13, outputTokens: 12 });
    await vendor.close();
  });
});

describe.each(forms)('4.1 a stream as %s', (form) => {
  it('4.1 that comes in one piece is whole', async () => {
    stack = await startShop();
    for (const { protocol } of chatVendors) {
      const response = await postNative(stack, actionOf(`shop-${protocol}`, form), asking('Short [chunks=1]'));
      const pieces = await piecesOf(response);
      expect(spoken(pieces)).toContain('You said: Short');
      expect(pieces.at(-1)).toMatchObject({ candidates: [{ finishReason: 'STOP' }], usageMetadata: {} });
    }
  });

  it('4.1 of a vendor that reports no usage is estimated', async () => {
    stack = await startShop('!nousage');
    for (const { protocol } of chatVendors.filter((one) => one.protocol !== 'openai-responses')) {
      const response = await postNative(stack, actionOf(`shop-${protocol}`, form), asking('Count me [tokens=40]'));
      expect((await piecesOf(response)).at(-1)).toMatchObject({ candidates: [{ finishReason: 'STOP' }] });
      const row = await lastRow(stack);
      expect(row).toMatchObject({ usageSource: 'estimated', outcome: 'ok' });
      expect(row.outputTokens).toBeGreaterThan(20);
      expect(row.outputTokens).toBeLessThan(80);
    }
  });

  it('7 that fails before its first event is tried at the next channel', async () => {
    stack = await startShop('!errorframe=0', {
      edit({ channels }) {
        channels.channels['shop-gemini-generate'].priority = 20;
        channels.channels['simulated-gemini'].models['shop-gemini-generate'] = 'gemini-3.6-flash';
      },
    });
    const response = await postNative(stack, actionOf('shop-gemini-generate', form), asking('Try again'));
    expect(spoken(await piecesOf(response))).toContain('You said: Try again');
    expect(await lastRow(stack)).toMatchObject({ attempts: 2, channel: 'simulated-gemini', outcome: 'ok' });
  });

  it.each(['errorframe=7', 'cut=7'])('7 that breaks off (%s) ends with an error in Google’s form', async (fault) => {
    stack = await startShop(`!${fault}`);
    for (const { protocol } of chatVendors) {
      const response = await postNative(stack, actionOf(`shop-${protocol}`, form), asking('Break [chunks=12]'));
      expect(response.status).toBe(200);
      const pieces = await piecesOf(response);
      const { error } = pieces.at(-1)!;
      expect(error!.code).toBeGreaterThanOrEqual(500);
      expect(error!.message).toContain(`(request id: ${response.headers.get('x-request-id')})`);
      expect(await lastRow(stack)).toMatchObject({ outcome: 'error', usageSource: 'estimated' });
    }
  });

  it('2.9 of a blocked prompt says why', async () => {
    stack = await startShop('!refuse=prompt');
    const response = await postNative(stack, actionOf('shop-gemini-generate', form), asking('Forbidden'));
    expect(response.status).toBe(200);
    expect(await piecesOf(response)).toMatchObject([{ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }]);
    expect(await lastRow(stack)).toMatchObject({ inputTokens: 9, outputTokens: 0, usageSource: 'measured' });
  });
});

describe('2.9 refusals', () => {
  it('2.9 Google’s SDK sees a blocked prompt and an answer that safety ended', async () => {
    stack = await startShop('!refuse=prompt');
    const { models } = clientOf(stack);
    const blocked = await models.generateContent({ model: 'shop-gemini-generate', contents: 'Forbidden' });
    expect(blocked.promptFeedback).toMatchObject({ blockReason: 'PROHIBITED_CONTENT' });
    expect(blocked.candidates).toBeUndefined();
    stack.simulator.faults.add({ match: { vendor: 'gemini' }, fault: { refuse: 'safety' } });
    const ended = await models.generateContent({ model: 'demo-gemini', contents: 'Forbidden' });
    expect(ended.candidates).toMatchObject([{ finishReason: 'SAFETY' }]);
  });

  it('2.9 a client of another protocol sees a content filter', async () => {
    stack = await startShop('!refuse=prompt');
    const body = { model: 'shop-gemini-generate', messages: [{ role: 'user', content: 'Forbidden' }] };
    const whole = (await (await stack.post('/chat/completions', body)).json()) as {
      choices: { finish_reason: string; message: { refusal: string } }[];
    };
    expect(whole.choices[0]).toMatchObject({ finish_reason: 'content_filter' });
    expect(whole.choices[0]!.message.refusal).toContain('PROHIBITED_CONTENT');
    const streamed = await (await stack.post('/chat/completions', { ...body, stream: true })).text();
    expect(streamed).toContain('"finish_reason":"content_filter"');
    expect(streamed).toMatch(/data: \[DONE\]\n\n$/);
  });

  it('7 an answer that is no answer is tried at the next channel', async () => {
    const botched = {
      candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL', index: 0 }],
      usageMetadata: { promptTokenCount: 4 },
    };
    const vendor = await startScripted((response, _body, index) => {
      const text = JSON.stringify(index === 0 ? botched : JSON.parse(frames[3]!));
      response.writeHead(200, { 'content-type': 'application/json' }).end(text);
    });
    await stack.rewrite(({ channels }) => {
      channels.channels.second = { ...channels.channels.scripted };
    });
    await stack.gateway.reload();
    const body = { model: 'demo-gemini', messages: [{ role: 'user', content: 'Hi' }] };
    expect((await stack.post('/chat/completions', body)).status).toBe(200);
    expect(await lastRow(stack)).toMatchObject({ attempts: 2, outcome: 'ok' });
    await vendor.close();
  });
});
