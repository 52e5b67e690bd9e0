/** A channel's own laws over what Gemini's clients send. */
import { expect, it } from 'vitest';
import gemini from '../../plugins/protocols/gemini-generate.ts';

const head = { path: '/v1beta/models/shop:generateContent', parameter: 'shop:generateContent', query: '' };

it.each([
  ['safetySettings', 'generationConfig'],
  ['safety_settings', 'generation_config'],
  ['safety_settings', 'generation\\u005fconfig'],
])('4.4 laws over members hold for both spellings: %s, %s', (safety, config) => {
  const text = `{"contents":[{"parts":[{"text":"Hi"}]}],"${safety}":[{}],"${config}":{"temperature":2}}`;
  const call = gemini.readCall(JSON.parse(text), head);
  const overrides = { set: { generationConfig: { temperature: 0 } }, remove: ['safetySettings'] };
  const sent = gemini.relay.request(Buffer.from(text), call, 'gemini-3.6-flash', overrides);
  expect(JSON.parse(sent.toString('utf8'))).toEqual({
    contents: [{ parts: [{ text: 'Hi' }] }],
    generationConfig: { temperature: 0 },
  });
});
