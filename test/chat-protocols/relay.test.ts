import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../engine/plugin.ts';
import chat from '../../plugins/protocols/openai-chat.ts';
import completions from '../../plugins/protocols/openai-completions.ts';
import { noHead } from './support.ts';

function relayed(
  text: string,
  vendorModel: string,
  overrides: Parameters<typeof chat.relay.request>[3] = null,
): string {
  const body = Buffer.from(text);
  const call = chat.readCall(JSON.parse(text) as JsonObject, noHead);
  return chat.relay.request(body, call, vendorModel, overrides).toString('utf8');
}

const messages = '"messages":[{"role":"user","content":"Grüße \\u00e9 \\"model\\":\\"x\\""}]';

describe('the relay of equal protocols', () => {
  it('4.4 changes the model’s name and no other byte', () => {
    const text = `{ "a" : 1.0e2 ,\n "model" : "shop"\t, ${messages}, "tools":[{"model":"shop"}], "z":  [ ] }`;
    expect(relayed(text, 'vendor-1')).toBe(text.replace('"shop"\t', '"vendor-1"\t'));
  });

  it('4.4 hands the very Buffer on where nothing changes', () => {
    const body = Buffer.from(`{"model":"shop",${messages}}`);
    const call = chat.readCall(JSON.parse(body.toString()) as JsonObject, noHead);
    expect(chat.relay.request(body, call, 'shop', null)).toBe(body);
  });

  it.each([
    `{"model":"dear","model":"shop",${messages}}`,
    `{"mod\\u0065l":"dear","model":"shop",${messages}}`,
    `{"model":"dear",${messages},"\\u006Dodel":"shop"}`,
  ])('8 no vendor can read another model than the billed one: %s', (text) => {
    for (const vendorModel of ['shop', 'vendor-1']) {
      const sent = relayed(text, vendorModel);
      expect(sent).not.toContain('dear');
      expect(sent.match(new RegExp(`"${vendorModel}"`, 'g'))).toHaveLength(2);
    }
  });

  it('6.2 asks the vendor for usage where the client did not, and keeps the client’s other options', () => {
    const options = (body: string) => (JSON.parse(body) as JsonObject).stream_options;
    expect(options(relayed(`{"model":"shop","stream":true,${messages}}`, 'v'))).toEqual({ include_usage: true });
    const given = `{"model":"shop","stream":true,"stream_options":{"include_obfuscation":false},${messages}}`;
    expect(options(relayed(given, 'v'))).toEqual({ include_obfuscation: false, include_usage: true });
    const asked = `{"model":"shop","stream":true,"stream_options":{ "include_usage":true },${messages}}`;
    expect(relayed(asked, 'shop')).toBe(asked);
    expect(options(relayed(`{"model":"shop",${messages}}`, 'v'))).toBeUndefined();
  });

  it('4.4 lays the channel’s own laws over the body', () => {
    const overrides = { set: { temperature: 1, model: 'law' }, remove: ['top_p'] };
    const text = `{"model":"shop","top_p":0.5,${messages},"temperature":0}`;
    expect(relayed(text, 'v', overrides)).toBe(`{"model":"law",${messages},"temperature":1}`);
  });

  it('4.4 any body keeps every member but the model', () => {
    const name = fc.string({ unit: 'grapheme', maxLength: 8 });
    const known = new Set([
      'model',
      'messages',
      'stream',
      'stream_options',
      'n',
      'max_tokens',
      'max_completion_tokens',
      'temperature',
    ]);
    const extras = fc.dictionary(
      name.filter((one) => !known.has(one)),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(extras, fc.constantFrom(undefined, 1, '\t'), (extra, indent) => {
        const body = { ...extra, model: 'shop', messages: [{ role: 'user', content: 'Hi' }] };
        const sent = relayed(JSON.stringify(body, null, indent), 'vendor-1');
        expect(sent).toBe(JSON.stringify({ ...body, model: 'vendor-1' }, null, indent));
      }),
    );
  });
});

describe('a whole reply on the relay', () => {
  const read = (protocol: typeof chat, value: JsonValue) => protocol.relay.reply(Buffer.from(JSON.stringify(value)));
  const said = {
    role: 'assistant',
    content: 'x'.repeat(40),
    reasoning_content: 'y'.repeat(20),
    tool_calls: [{ function: { arguments: 'z'.repeat(20) } }],
  };

  it('2.9 gives its usage by kind', () => {
    const details = {
      prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 5 },
      completion_tokens_details: { reasoning_tokens: 6 },
    };
    const usage = { prompt_tokens: 52, completion_tokens: 18, ...details };
    const counted = { input: 52, cachedInput: 20, cacheWrite: 5, output: 18, reasoning: 6 };
    expect(read(chat, { choices: [{ message: said }], usage })).toEqual({
      usage: counted,
      error: null,
      estimatedOutput: 0,
    });
  });

  it('8 is estimated where it has no usage', () => {
    expect(read(chat, { choices: [{ message: said }, { message: 7 }, null] }).estimatedOutput).toBe(20);
    expect(read(completions, { choices: [{ text: 'x'.repeat(9) }, {}] }).estimatedOutput).toBe(3);
  });

  it.each<[JsonValue, string, string | null]>([
    [{ error: { message: 'busy', code: 'slow_down', type: 'server_error', param: null } }, 'busy', 'slow_down'],
    [{ error: 'busy', code: 7 }, 'busy', '7'],
    [{ object: 'error', message: 'busy', code: 400 }, 'busy', '400'],
    [[{ error: { message: 'busy' } }], 'busy', null],
    [{ error: {} }, 'unknown error', null],
  ])('7 an error that a 200 hides is found in %j', (body, message, code) => {
    expect(read(chat, body).error).toMatchObject({ message, code });
  });

  it.each<JsonValue>([null, 7, 'text', [], {}, { choices: [] }, { choices: {} }])('7 %j is no reply', (body) => {
    expect(() => read(chat, body)).toThrow('no choices');
  });
});
