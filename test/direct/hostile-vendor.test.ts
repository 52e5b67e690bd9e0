import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { Stack } from '../kit/stack.ts';
import { formOf, lastRow, postForm, startVendor, startWith, wavFile } from './support.ts';

let stack: Stack | null = null;
let vendor: Awaited<ReturnType<typeof startVendor>> | null = null;
afterEach(async () => {
  await stack?.close();
  vendor?.close();
  stack = vendor = null;
});

async function served(
  model: string,
  body: string,
  status = 200,
  vendorName = 'openai',
  credential = 'x',
): Promise<Stack> {
  vendor = await startVendor((request, response: ServerResponse) => {
    request.resume();
    request.on('end', () => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(body);
    });
  });
  const edit = ({ channels }: { channels: { channels: Record<string, object> } }) => {
    Object.assign(channels.channels.only!, { vendor: vendorName, credentials: [credential] });
  };
  stack = await startWith(vendor.baseUrl, model, { edit });
  return stack;
}

describe('8 amounts that no vendor can mean are not charged: the gateway’s own count is', () => {
  it.each(['1e300', '1e9', '86401', '-1', '"5"', 'null'])('8 %s seconds of one', async (seconds) => {
    const stack = await served('demo-whisper', `{"text":"hi","usage":{"type":"duration","seconds":${seconds}}}`);
    const form = formOf({ file: wavFile(1), model: 'demo-whisper' });
    expect((await postForm(stack, '/audio/transcriptions', form)).status).toBe(200);
    expect(await lastRow(stack)).toMatchObject({ seconds: 1, quota: 50, usageSource: 'estimated' });
  });

  it.each(['1e300', '1e9', '10001', '-1', '1.5'])('8 %s search units for one document', async (units) => {
    const results = '[{"index":0,"relevance_score":0.5}]';
    const meta = `{"billed_units":{"search_units":${units}}}`;
    const stack = await served('demo-rerank', `{"id":"x","results":${results},"meta":${meta}}`, 200, 'cohere');
    const answer = await stack.post('/rerank', { model: 'demo-rerank', query: 'a', documents: ['b'] });
    expect(answer.status).toBe(200);
    expect(await lastRow(stack)).toMatchObject({ searchUnits: 1, quota: 1000, usageSource: 'estimated' });
  });
});

it.each(['sk-verysecret0123456789', 'jina_verysecret0123456789', 'Bearer verysecret0123456789'])(
  '7 a vendor that repeats the credential %s anywhere in its error does not hand it to the client',
  async (secret) => {
    const error = { message: `bad ${secret}`, type: secret, code: secret, param: secret };
    const stack = await served(
      'demo-embedding',
      JSON.stringify({ error }),
      400,
      'openai',
      secret.replace('Bearer ', ''),
    );
    const answer = await stack.post('/embeddings', { model: 'demo-embedding', input: 'x' });
    expect(answer.status).toBe(400);
    expect(await answer.text()).not.toContain('verysecret');
  },
);
