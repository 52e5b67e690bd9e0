/** The fast path: what goes to the vendor and what comes back, byte by byte. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Stack } from '../kit/stack.ts';
import {
  chatBody,
  chunk,
  done,
  errorOf,
  lastRow,
  payloads,
  type ScriptedVendor,
  startChannels,
  startVendor,
  usageChunk,
} from './chat-support.ts';

let stack: Stack;
let vendor: ScriptedVendor;
/** What the scripted vendor answers to the next requests. */
let answer: Buffer;
let contentType: string;

beforeAll(async () => {
  vendor = await startVendor((response) => {
    response.writeHead(200, { 'content-type': contentType });
    response.end(answer);
  });
  stack = await startChannels(
    {
      main: { baseUrl: vendor.baseUrl, models: { 'demo-chat': 'vendor/model "1"', 'demo-reasoner': 'demo-reasoner' } },
    },
    {
      edit: ({ models }) => {
        models.models['demo-chat'].maxOutputTokens = 100;
        models.models['demo-reasoner'].maxOutputTokens = 100;
      },
    },
  );
});
afterAll(async () => {
  await stack.close();
  await vendor.close();
});
beforeEach(() => {
  contentType = 'application/json';
  answer = Buffer.from(whole);
  vendor.requests.length = 0;
});

const whole =
  '{ "id":"x",\n"choices":[ {"index":0,"message":{"role":"assistant","content":"caf\\u00e9 \\/ 1e2"},"finish_reason":"stop"}],"vendor_extra":{"a":1.50},"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10,"prompt_tokens_details":{"cached_tokens":2}}  }\n';

const sent = () => vendor.requests.at(-1)!.body.toString('utf8');
const say = async (body: string): Promise<Response> => stack.post('/chat/completions', body);
const quoted = JSON.stringify('vendor/model "1"');

describe('4.4 the request that the vendor gets', () => {
  it.each([
    ['plain', '{"model":@MODEL@,"messages":[{"role":"user","content":"hi"}]}'],
    [
      'odd whitespace, number formats and escapes',
      ' \r\n{\t"temperature" : 1.50e0 , "model"\n:\t@MODEL@ ,"seed":12345678901234567890,"top_p":1E-1,"messages" :[ {"role":"user","content":"\\u00e9\\ud83d\\ude42\\/\\"model\\":\\"demo-chat\\""} ] }  \n',
    ],
    [
      'unknown and nested fields of the same name',
      '{"messages":[{"role":"user","content":"hi","model":"inner"}],"metadata":{"model":"demo-chat","stream_options":{"x":[1,{"model":2}]}},"top_k":40,"thinking":{"type":"enabled"},"model":@MODEL@,"chat_template_kwargs":null}',
    ],
    [
      'braces and quotes within strings',
      '{"user":"}\\\\","x":"]{\\"","model":@MODEL@,"messages":[{"role":"user","content":"\\\\\\""}]}',
    ],
  ])('4.4 %s: only the model differs', async (_name, template) => {
    const response = await say(template.replace('@MODEL@', '"demo-chat"'));
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(whole);
    expect(sent()).toBe(template.replace('@MODEL@', quoted));
  });

  it('4.4 a model that is repeated, also with an escaped key, names the vendor’s model everywhere', async () => {
    await say(
      '{"model":"expensive","mod\\u0065l":"other","messages":[{"role":"user","content":"hi"}],"model":"demo-chat"}',
    );
    expect(sent()).toBe(
      `{"model":${quoted},"mod\\u0065l":${quoted},"messages":[{"role":"user","content":"hi"}],"model":${quoted}}`,
    );
  });

  it('4.4 a repeated model cannot smuggle another one past a channel that keeps the public name', async () => {
    const response = await say(
      '{"model":"gpt-5.5","model":"demo-reasoner","messages":[{"role":"user","content":"hi"}]}',
    );
    expect(response.status).toBe(200);
    expect(sent()).not.toContain('gpt-5.5');
  });

  it('4.4 a stream gets stream_options added at the end, and nothing else changes', async () => {
    contentType = 'text/event-stream';
    answer = Buffer.from(chunk('hi') + chunk('', 'stop') + usageChunk(5, 2) + done);
    const body = '{ "model": "demo-chat", "messages":[{"role":"user","content":"hi"}] ,"stream" : true, "x": 1.0 }\n';
    await (await say(body)).text();
    expect(sent()).toBe(
      `{ "model": ${quoted}, "messages":[{"role":"user","content":"hi"}] ,"stream" : true, "x": 1.0 ,"stream_options":{"include_usage":true}}\n`,
    );
  });

  it('4.4 stream_options that are there are kept but for include_usage', async () => {
    contentType = 'text/event-stream';
    answer = Buffer.from(chunk('', 'stop') + usageChunk(5, 2) + done);
    await (
      await say(
        '{"stream_options" : {"include_obfuscation":false, "include_usage":false},"model":"demo-chat","messages":[{"role":"user","content":"hi"}],"stream":true}',
      )
    ).text();
    expect(JSON.parse(sent()).stream_options).toEqual({ include_obfuscation: false, include_usage: true });
    const wanted =
      '{"stream_options" : {"include_usage" : true , "include_obfuscation":false},"model":"demo-chat","messages":[{"role":"user","content":"hi"}],"stream":true}';
    await (await say(wanted)).text();
    expect(sent()).toBe(wanted.replace('"demo-chat"', quoted));
  });

  it('4.4 stream_options without a stream is the client’s mistake', async () => {
    const response = await stack.post('/chat/completions', chatBody('hi', { stream_options: { include_usage: true } }));
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ param: 'stream_options' });
    expect(vendor.requests).toHaveLength(0);
  });

  it('4.4 the client’s own headers and key stay with the gateway', async () => {
    await stack.post('/chat/completions', chatBody('hi'), {
      'x-stainless-lang': 'js',
      'openai-organization': 'mine',
      cookie: 'a=b',
    });
    const { headers } = vendor.requests.at(-1)!;
    expect(headers.authorization).toBe('Bearer sk-main');
    expect(headers['content-type']).toBe('application/json');
    for (const name of ['x-stainless-lang', 'openai-organization', 'cookie']) expect(headers[name]).toBeUndefined();
    expect(JSON.stringify(headers)).not.toContain(stack.key);
  });
});

describe('4.4 the answer that the client gets', () => {
  it('2.9 a whole answer byte by byte, its usage billed', async () => {
    const response = await stack.post('/chat/completions', chatBody('hi'));
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(Buffer.from(await response.arrayBuffer()).equals(answer)).toBe(true);
    expect(await lastRow(stack)).toMatchObject({
      inputTokens: 7,
      cachedInputTokens: 2,
      outputTokens: 3,
      usageSource: 'measured',
    });
  });

  const comment = ': keep-alive\n\n';
  const odd =
    'data:{"choices":[{"index":0,"delta":{"content":"\\u0065 \\"usage\\":{ [DONE] \\"error\\":1"},"finish_reason":null}],"x-unknown":[1.0]}\n\n';
  const named =
    'event: message\nid: 7\ndata: {"choices":[{"index":1,"delta":{"content":"é🙂"}}],"usage":null,"error":null}\n\n';

  it.each([
    ['hidden from a client that did not ask', undefined, false],
    ['hidden from a client that said no', { include_usage: false }, false],
    ['passed on to a client that asked', { include_usage: true }, true],
  ])('6.2 a streamed answer byte by byte, the usage chunk %s', async (_name, streamOptions, passes) => {
    contentType = 'text/event-stream; charset=utf-8';
    const body = comment + chunk('a') + odd + comment + named + chunk('', 'stop');
    answer = Buffer.from(`${body}${usageChunk(11, 4)}${comment}${done}`);
    const response = await stack.post(
      '/chat/completions',
      chatBody('hi', { stream: true, stream_options: streamOptions }),
    );
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(await response.text()).toBe(`${body}${passes ? usageChunk(11, 4) : ''}${comment}${done}`);
    expect(await lastRow(stack)).toMatchObject({
      inputTokens: 11,
      outputTokens: 4,
      usageSource: 'measured',
      outcome: 'ok',
    });
  });

  it('6.2 a vendor that answers a stream with one whole JSON: 502, never JSON for a client that wants events', async () => {
    const response = await stack.post('/chat/completions', chatBody('hi', { stream: true }));
    expect(response.status).toBe(502);
    expect(await errorOf(response)).toMatchObject({ code: 'upstream_invalid_response' });
    expect(await lastRow(stack)).toMatchObject({ outcome: 'error', code: 'upstream_invalid_response', quota: 0 });
  });

  it('4.4 a vendor that answers events to a plain request: 502, never events for a client that wants JSON', async () => {
    contentType = 'text/event-stream';
    answer = Buffer.from(chunk('a') + chunk('', 'stop') + done);
    const response = await stack.post('/chat/completions', chatBody('hi'));
    expect(response.status).toBe(502);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await errorOf(response)).toMatchObject({ code: 'upstream_invalid_response' });
  });

  it('6.2 usage that rides on the last chunk of text is billed and passes', async () => {
    contentType = 'text/event-stream';
    const last =
      'data: {"choices":[{"index":0,"delta":{"content":"b"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\n';
    answer = Buffer.from(chunk('a') + last + done);
    const response = await stack.post('/chat/completions', chatBody('hi', { stream: true }));
    expect(await response.text()).toBe(chunk('a') + last + done);
    expect(await lastRow(stack)).toMatchObject({ inputTokens: 3, outputTokens: 2, usageSource: 'measured' });
  });

  it('6.2 a last frame that broke off is not sent on as if it were whole', async () => {
    contentType = 'text/event-stream';
    answer = Buffer.from(chunk('a') + chunk('', 'stop') + usageChunk(5, 2).slice(0, 60));
    const text = await (await stack.post('/chat/completions', chatBody('hi', { stream: true }))).text();
    for (const one of payloads(text)) if (one !== '[DONE]') expect(() => JSON.parse(one)).not.toThrow();
    expect(text).toBe(chunk('a') + chunk('', 'stop') + done);
    expect(await lastRow(stack)).toMatchObject({ outcome: 'ok', usageSource: 'estimated', outputTokens: 2 });
  });

  it('6.2 a last frame that lacks only its blank line counts', async () => {
    contentType = 'text/event-stream';
    answer = Buffer.from(chunk('a') + chunk('', 'stop').trimEnd());
    const text = await (await stack.post('/chat/completions', chatBody('hi', { stream: true }))).text();
    expect(text).toBe(chunk('a') + chunk('', 'stop') + done);
    expect(await lastRow(stack)).toMatchObject({ outcome: 'ok' });
  });

  it('8 a usage that cannot be true is not believed: the row is estimated and the hold ends', async () => {
    answer = Buffer.from(whole.replace('"completion_tokens":3', '"completion_tokens":9007199254740991'));
    const response = await stack.post('/chat/completions', { ...chatBody('hi'), model: 'demo-reasoner' });
    expect(response.status).toBe(200);
    expect(await lastRow(stack)).toMatchObject({ outcome: 'ok', usageSource: 'estimated' });
    expect(await stack.gateway.ledger.accounts.audit()).toMatchObject({ ok: true });
  });
});
