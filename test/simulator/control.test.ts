import { describe, expect, it } from 'vitest';
import {
  type Fault,
  FaultError,
  type FaultRule,
  type ReceivedRequest,
  simulatorSummary,
  startSimulator,
} from '../../simulator/index.ts';
import { post, useSimulator } from './start.ts';
import { exchange } from './wire.ts';

const simulator = useSimulator({ images: 'small' });
const messages = [{ role: 'user', content: 'Hello' }];
const chat = (model = 'gpt-4.1-mini') =>
  post(`${simulator.current.url}/openai/v1/chat/completions`, { model, messages });
const control = async (method: string, path: string, body?: unknown) => {
  const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
  const response = await fetch(`${simulator.current.url}/_control${path}`, init);
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, asserted field by field
  return { status: response.status, body: (await response.json()) as any };
};

describe('faults', () => {
  it('are set for a vendor, a path, a model and a number of times, and cleared', async () => {
    const rule: FaultRule = {
      match: { vendor: 'openai', path: '/chat/', model: 'gpt-4.1-mini', times: 2 },
      fault: { status: 500 },
    };
    expect((await control('POST', '/faults', rule)).body.rules).toEqual([rule]);
    expect((await chat('gpt-5.5')).status).toBe(200);
    expect([(await chat()).status, (await chat()).status, (await chat()).status]).toEqual([500, 500, 200]);
    await control('POST', '/faults', [{ fault: { status: 503 } }, { fault: { retryAfter: 3 } }]);
    const both = await chat();
    expect([both.status, both.headers.get('retry-after')]).toEqual([503, '3']);
    expect((await control('DELETE', '/faults')).status).toBe(200);
    expect((await control('GET', '/faults')).body).toEqual({ rules: [] });
    expect((await chat()).status).toBe(200);
  });

  it('are set from code too, where a model’s suffix wins over a rule', async () => {
    const fault: Fault = { status: 500 };
    simulator.current.faults.add({ match: { vendor: 'openai' }, fault });
    expect((await chat('gpt-4.1-mini!status=429')).status).toBe(429);
    simulator.current.faults.clear();
    expect(() => simulator.current.faults.add({ fault: { status: 42 } })).toThrow(FaultError);
  });

  it.each([
    ['no JSON', undefined, 'must be JSON'],
    ['an unknown fault', { fault: { explode: true } }, "unknown fault 'explode'"],
    ['an unknown key', { faults: {} }, "unknown key 'faults'"],
    ['an unknown match', { match: { host: 'x' }, fault: {} }, "unknown key 'host'"],
    ['an unknown vendor', { match: { vendor: 'opnai' }, fault: {} }, "unknown vendor 'opnai'; known are openai,"],
    ['a wrong number', { fault: { split: 0 } }, 'integer from 1'],
    ['a wrong word', { fault: { reset: 'later' } }, 'one of now, read'],
    ['times of nothing', { match: { times: 0 }, fault: {} }, 'times'],
  ])('refuse %s', async (_name, body, text) => {
    const reply = await control('POST', '/faults', body);
    expect(reply.status).toBe(400);
    expect(reply.body.error).toContain(text);
  });

  it('in a suffix that cannot be understood are answered with 400', async () => {
    expect(await chat('gpt-5.5!explode')).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('unknown fault') },
    });
  });
});

describe('what was received', () => {
  it('is kept with its body, headers and raw bytes, the fault suffix included', async () => {
    await chat('gpt-5.5!nousage');
    const request: ReceivedRequest | undefined = simulator.current.received[0];
    expect(request).toMatchObject({
      vendor: 'openai',
      method: 'POST',
      path: '/openai/v1/chat/completions',
      headers: { authorization: 'Bearer sk-good' },
      body: { model: 'gpt-5.5!nousage', messages },
      aborted: false,
      status: 200,
    });
    expect(JSON.parse(request!.raw.toString())).toEqual(request!.body);
    expect(Math.abs(Date.now() - request!.at)).toBeLessThan(5000);
  });

  it('is kept with headers that were sent twice', async () => {
    const { url } = simulator.current;
    const twice = 'Authorization: Bearer second\r\n';
    await exchange({ url, path: '/openai/v1/chat/completions', body: { model: 'gpt-5.5', messages }, headers: twice });
    const { headers, rawHeaders } = simulator.current.received[0]!;
    expect(headers.authorization).toBe('Bearer k');
    const values = rawHeaders.filter((_, index) => rawHeaders[index - 1]?.toLowerCase() === 'authorization');
    expect(values).toEqual(['Bearer k', 'Bearer second']);
    expect((await control('GET', '/received')).body.received[0].rawHeaders).toEqual(rawHeaders);
  });

  it('is listed and forgotten by the control endpoint', async () => {
    const form = new FormData();
    form.append('model', 'gpt-image-2');
    form.append('image', new Blob(['abc']), 'a.png');
    await post(`${simulator.current.url}/openai/v1/images/edits`, form);
    const { received } = (await control('GET', '/received')).body;
    expect(received[0].body).toEqual({
      fields: { model: 'gpt-image-2' },
      files: [{ field: 'image', filename: 'a.png', contentType: 'application/octet-stream', bytes: 3 }],
    });
    await control('DELETE', '/received');
    expect(simulator.current.received).toEqual([]);
  });

  it('is bounded', async () => {
    for (let index = 0; index < 1010; index += 1) await chat();
    expect(simulator.current.received).toHaveLength(1000);
  });
});

describe('a simulator', () => {
  it('names its base URLs, and says what it is at its root', async () => {
    const { url } = simulator.current;
    expect(simulatorSummary(simulator.current)).toMatchObject({
      vendors: { openai: `${url}/openai/v1`, gemini: `${url}/gemini/v1beta`, xai: `${url}/xai/v1` },
      control: `${url}/_control`,
    });
    expect(await (await fetch(url)).json()).toMatchObject({ vendors: { openai: `${url}/openai/v1` } });
    expect((await fetch(`${url}/nowhere`)).status).toBe(404);
    expect((await control('PUT', '/faults', {})).status).toBe(404);
  });

  it('draws small pictures where asked to', async () => {
    const body = { model: 'gpt-image-2', prompt: 'x', size: '3840x2160' };
    const reply = await post(`${simulator.current.url}/openai/v1/images/generations`, body);
    expect(reply.body.size).toBe('3840x2160');
    expect(Buffer.from(reply.body.data[0].b64_json, 'base64').readUInt32BE(16)).toBe(16);
  });

  it('refuses a taken port, and closes in the middle of an answer', async () => {
    await expect(startSimulator({ port: simulator.current.port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    const second = await startSimulator();
    const hanging = post(`${second.url}/openai/v1/chat/completions`, { model: 'gpt-5.5!latency=60000', messages });
    const outcome = expect(hanging).rejects.toThrow();
    await expect.poll(() => second.received.length).toBe(1);
    await second.close();
    await outcome;
  });
});
