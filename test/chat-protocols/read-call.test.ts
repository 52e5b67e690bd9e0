import { describe, expect, it } from 'vitest';
import { GatewayError, type JsonObject } from '../../engine/plugin.ts';
import chat from '../../plugins/protocols/openai-chat.ts';
import completions from '../../plugins/protocols/openai-completions.ts';
import { noHead } from './support.ts';

const readChat = (body: JsonObject) => chat.readCall(body, noHead);
const readCompletion = (body: JsonObject) => completions.readCall(body, noHead);

const asked = { model: 'shop', messages: [{ role: 'user', content: 'Hi' }] };
const prompted = { model: 'shop', prompt: 'Hi' };

function refusal(read: (body: JsonObject) => unknown, body: JsonObject) {
  try {
    read(body);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { status: error.status, code: error.code, param: error.param };
  }
  return null;
}

const missing = 'missing_required_parameter';
const type = 'invalid_type';
const value = 'invalid_value';

describe('2.8 a chat request', () => {
  it.each<[string, JsonObject, string, string]>([
    ['no model', { model: null }, missing, 'model'],
    ['an empty model', { model: '' }, missing, 'model'],
    ['a model that is a number', { model: 5 }, type, 'model'],
    ['no messages', { messages: null }, missing, 'messages'],
    ['messages that are a string', { messages: 'Hi' }, type, 'messages'],
    ['no message in the list', { messages: [] }, value, 'messages'],
    ['a message that is a string', { messages: ['Hi'] }, type, 'messages[0]'],
    ['a message that is a list', { messages: [asked.messages[0]!, []] }, type, 'messages[1]'],
    ['a message without a role', { messages: [{ content: 'Hi' }] }, type, 'messages[0].role'],
    ['a role that is a number', { messages: [{ role: 1 }] }, type, 'messages[0].role'],
    ['max_tokens that is a string', { max_tokens: '5' }, type, 'max_tokens'],
    ['max_tokens that is no integer', { max_tokens: 1.5 }, type, 'max_tokens'],
    ['max_tokens of 0', { max_tokens: 0 }, value, 'max_tokens'],
    ['max_completion_tokens below 1', { max_completion_tokens: -1 }, value, 'max_completion_tokens'],
    ['temperature that is a string', { temperature: 'hot' }, type, 'temperature'],
    ['stream that is a string', { stream: 'true' }, type, 'stream'],
    ['n of 0', { n: 0 }, value, 'n'],
    ['n that is a string', { n: '2' }, type, 'n'],
    ['stream_options without stream', { stream_options: { include_usage: true } }, value, 'stream_options'],
    ['stream_options that is a list', { stream: true, stream_options: [] }, type, 'stream_options'],
    ['include_usage that is a number', { stream: true, stream_options: { include_usage: 1 } }, type, 'include_usage'],
  ])('with %s is refused', (_name, over, code, param) => {
    expect(refusal(readChat, { ...asked, ...over })).toEqual({ status: 400, code, param });
  });

  it('4.4 is read, and unknown fields and shapes are the vendor’s business', () => {
    const body = {
      ...asked,
      messages: [...asked.messages, { role: 'critic', content: { odd: true }, weight: 1 }],
      max_tokens: 5,
      max_completion_tokens: 9,
      n: 3,
      stream: true,
      stream_options: { include_usage: true, include_obfuscation: false },
      temperature: 7,
      thinking: { budget: 1 },
    };
    expect(readChat(body)).toEqual({
      kind: 'chat',
      model: 'shop',
      stream: true,
      wantsUsage: true,
      maxOutputTokens: 9,
      choices: 3,
      body,
    });
  });

  it('null means not said', () => {
    const body = { ...asked, max_tokens: null, n: null, stream: null, temperature: null, stream_options: null };
    const call = { model: 'shop', stream: false, wantsUsage: false, maxOutputTokens: null, choices: 1 };
    expect(readChat(body)).toMatchObject(call);
    expect(readChat({ ...asked, max_tokens: 5 }).maxOutputTokens).toBe(5);
  });
});

describe('4.1 a completions request', () => {
  it.each<[string, JsonObject, string, string]>([
    ['no model', { model: null }, missing, 'model'],
    ['no prompt', { prompt: null }, missing, 'prompt'],
    ['an empty list of prompts', { prompt: [] }, value, 'prompt'],
    ['a prompt that is an object', { prompt: {} }, type, 'prompt'],
    ['prompts of mixed kinds', { prompt: ['a', 1] }, type, 'prompt'],
    ['tokens that are no integers', { prompt: [1.5] }, type, 'prompt'],
    ['an empty list of tokens', { prompt: [[]] }, type, 'prompt'],
    ['max_tokens that is a string', { max_tokens: '5' }, type, 'max_tokens'],
    ['n of 0', { n: 0 }, value, 'n'],
    ['best_of that is a string', { best_of: 'all' }, type, 'best_of'],
    ['temperature that is a string', { temperature: 'hot' }, type, 'temperature'],
    ['stream_options without stream', { stream_options: {} }, value, 'stream_options'],
  ])('with %s is refused', (_name, over, code, param) => {
    expect(refusal(readCompletion, { ...prompted, ...over })).toEqual({ status: 400, code, param });
  });

  it.each<[string, JsonObject, number]>([
    ['one string', {}, 1],
    ['an empty string', { prompt: '' }, 1],
    ['one list of tokens', { prompt: [1, 2, 3] }, 1],
    ['two strings', { prompt: ['a', 'b'] }, 2],
    ['three lists of tokens, n of 2', { prompt: [[1], [2], [3]], n: 2 }, 6],
    ['two strings, best of 5', { prompt: ['a', 'b'], n: 2, best_of: 5 }, 10],
  ])('with %s counts its choices', (_name, over, choices) => {
    expect(readCompletion({ ...prompted, ...over })).toMatchObject({ choices, maxOutputTokens: 16 });
  });

  it('has its own bound on tokens where it names one', () => {
    expect(readCompletion({ ...prompted, max_tokens: 0 }).maxOutputTokens).toBe(0);
    expect(readCompletion({ ...prompted, max_tokens: 200 }).maxOutputTokens).toBe(200);
  });
});
