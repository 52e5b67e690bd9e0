/** `gateway explain` on the configuration that ships with the gateway: every model, every kind of route. */
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readDocument, root } from '../docs/blocks.ts';
import { bodyFile, cleanUpAfterAll } from './command.ts';
import { call } from './in-process.ts';

cleanUpAfterAll();

const explain = (...words: readonly string[]) => call(['explain', '--config', root, ...words]);

const models = Object.keys((parse(readDocument('models.yaml')) as { models: object }).models);

test.each(models)('%s: route, channel, request and price', async (model) => {
  const { code, stdout, stderr } = await explain('--model', model, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const { request, price, parameters } = JSON.parse(stdout);
  expect(request.url).toMatch(/^(http|ws):\/\/127\.0\.0\.1:8081\//);
  expect(JSON.stringify(request)).not.toMatch(/sk-simulated|xai-simulated|jina_simulated|sk-ant-simulated/);
  expect(price.kinds.length).toBeGreaterThan(0);
  expect(parameters).not.toBeNull();
});

test.each([
  ['demo-chat', '/v1/completions', 'POST http', '/openai/v1/completions'],
  ['demo-chat', '/v1/responses', 'POST http', '/openai/v1/responses'],
  ['demo-chat', '/v1/responses/compact', 'POST http', '/openai/v1/responses/compact'],
  ['demo-chat', '/v1/messages', 'POST http', '/openai/v1/chat/completions'],
  ['demo-claude', '/v1/responses', 'POST http', '/anthropic/v1/messages'],
  ['demo-claude', '/v1beta/models/demo-claude:generateContent', 'POST http', '/anthropic/v1/messages'],
  ['demo-gemini', '/v1/messages', 'POST http', '/gemini/v1beta/models/gemini-3.6-flash:generateContent'],
  [
    'demo-gemini',
    '/v1beta/models/*:streamGenerateContent',
    'POST http',
    '/gemini/v1beta/models/gemini-3.6-flash:streamGenerateContent?alt=sse',
  ],
  ['demo-claude', '/v1/messages/count_tokens', 'POST http', '/anthropic/v1/messages/count_tokens'],
  ['demo-gemini', '/v1/responses/input_tokens', 'POST http', '/gemini/v1beta/models/gemini-3.6-flash:countTokens'],
  ['beta-3-pro-image', '/v1/chat/completions', 'POST http', '/gemini/v1beta/models/gemini-3-pro-image:generateContent'],
  ['gamma-imagine-image', '/v1/responses', 'POST http', '/xai/v1/images/generations'],
  ['demo-whisper', '/v1/audio/translations', 'POST http', '/openai/v1/audio/translations'],
  ['demo-video-veo', '/v1/video/generations', 'POST http', '/models/veo-3.1-generate-preview:predictLongRunning'],
  ['demo-realtime', '/v1/realtime', 'GET ws', '/openai/v1/realtime?model=gpt-realtime'],
])('%s on %s', async (model, route, start, end) => {
  const { code, stdout } = await explain('--model', model, '--route', route);
  expect(code, stdout).toBe(0);
  const [line = ''] = /^ {2}(GET|POST) (http|ws):.*$/m.exec(stdout) ?? [];
  expect([line.trim().startsWith(start), line.endsWith(end)], line).toEqual([true, true]);
});

test('what a vendor’s protocol cannot say is told as the client is told', async () => {
  const body = await bodyFile({ messages: [{ role: 'user', content: 'Hi' }], n: 2 });
  const { code, stdout, stderr } = await explain('--model', 'demo-claude', '--body', body);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^400 unsupported_parameter: .*`n`/);
  expect(stdout).toContain('simulated-anthropic');
});

test('a conversation that goes on says what is not shown', async () => {
  const body = await bodyFile({ previous_response_id: 'resp_1', input: 'And then?' });
  const { code, stdout } = await explain('--model', 'demo-chat', '--route', '/v1/responses', '--body', body);
  expect(code).toBe(0);
  expect(stdout).toContain('Earlier answers are not looked up');
});
