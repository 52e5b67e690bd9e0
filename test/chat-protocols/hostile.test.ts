/** Whatever a vendor or a client sends: an answer, or an error that says so. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatewayError, type JsonObject, type JsonValue } from '../../engine/plugin.ts';
import { callOf, noHead, protocols } from './support.ts';

const names = [
  'choices',
  'message',
  'delta',
  'content',
  'text',
  'index',
  'tool_calls',
  'function',
  'arguments',
  'name',
  'id',
  'usage',
  'error',
  'finish_reason',
  'images',
  'image_url',
  'url',
  'prompt_tokens',
  '__proto__',
  'constructor',
];
const { object, list } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, 0, -1, 1e21, 0.5, '', 'stop', 'data:image/png;base64,AA', '[DONE]'),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('value'), { maxLength: 4 }),
  object: fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 5 }),
})) as Record<'object' | 'list', fc.Arbitrary<JsonValue>>;
/** Right on the outside, so that what is wrong inside is reached. */
const said = fc.record({ content: list, tool_calls: fc.array(object), images: fc.array(object) }, { requiredKeys: [] });
const choice = fc.record(
  {
    index: fc.constantFrom(0, 1, 0, 1e15, -1, 'x'),
    message: said,
    delta: said,
    text: list,
    finish_reason: fc.constantFrom('stop', null, 7),
  },
  { requiredKeys: [] },
);
const hostile = fc.oneof(object, fc.record({ choices: fc.array(choice), usage: object })) as fc.Arbitrary<JsonObject>;

describe('hostile input', () => {
  it('a reply of any shape gives a reply or an Error', () => {
    fc.assert(
      fc.property(hostile, (body) => {
        const data = JSON.stringify(body);
        for (const vendor of Object.values(protocols)) {
          const reply = onlyErrors(() => vendor.decodeReply(body));
          const events = onlyErrors(() => vendor.decodeStream()({ event: null, data })) ?? [];
          onlyErrors(() => vendor.decodeError(body));
          for (const client of Object.values(protocols)) {
            if (reply !== undefined) onlyErrors(() => JSON.stringify(client.encodeReply(reply, callOf())));
            const encoder = client.encodeStream(callOf());
            onlyErrors(() => events.map((event) => encoder.encode(event)).join(''));
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it('a request of any shape gives a body or a refusal with a status of 400', () => {
    const role = fc.constantFrom('system', 'user', 'assistant', 'tool', 'function', 'x');
    const type = fc.constantFrom('text', 'image_url', 'input_audio', 'file', 'refusal', 'function');
    const part = fc.tuple(type, object).map(([is, rest]) => ({ ...(rest as JsonObject), type: is }));
    const content = fc.oneof(fc.array(part, { maxLength: 3 }), fc.constantFrom('Hi', null), object);
    const message = fc.record({ role, content, tool_calls: list, tool_call_id: content }, { requiredKeys: ['role'] });
    const messages = fc.array(message, { minLength: 1, maxLength: 3 });
    const tools = fc.oneof(fc.array(part, { maxLength: 2 }), object);
    const rest = fc.record(
      { tools, tool_choice: object, response_format: part, stop: list, n: list },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(messages, rest, (asked, over) => {
        for (const client of Object.values(protocols)) {
          for (const vendor of Object.values(protocols)) {
            onlyRefusals(() => {
              const read = client.readCall({ ...over, model: 'm', messages: asked, prompt: 'a' } as JsonObject, noHead);
              JSON.stringify(vendor.encodeRequest(client.decodeRequest(read.body), 'v'));
            });
          }
        }
      }),
      { numRuns: 500 },
    );
  });
});

/** Undefined where it is judged to be no answer. */
function onlyErrors<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    // A TypeError would be an accident of ours, no judgement of theirs.
    expect(error).toBeInstanceOf(GatewayError);
    return undefined;
  }
}

function onlyRefusals(run: () => void): void {
  try {
    run();
  } catch (error) {
    expect(error).toMatchObject({ name: 'GatewayError', status: 400 });
  }
}
