/** Google's SDK against vendors of every chat protocol. */
import { type Content, FunctionCallingConfigMode, type GenerateContentResponse, type Part } from '@google/genai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPictures } from '../../simulator/images/pictures.ts';
import type { Stack } from '../kit/stack.ts';
import { chatVendors, clientOf, lastRow, startShop } from './kit.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startShop();
});
afterAll(() => stack.close());

const png = createPictures('exact').draw({ format: 'png', width: 8, height: 8, seed: 's' }).bytes.toString('base64');
const pdf = Buffer.from('%PDF-1.4 one page').toString('base64');
const lookup = {
  name: 'lookup',
  description: 'Finds a card.',
  parametersJsonSchema: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] },
};

type Received = Stack['simulator']['received'][number];
const received = (): Received => stack.simulator.received.at(-1)!;
const textOf = (pieces: readonly GenerateContentResponse[]): string => pieces.map(({ text }) => text ?? '').join('');

async function collect(stream: AsyncIterable<GenerateContentResponse>): Promise<GenerateContentResponse[]> {
  const pieces: GenerateContentResponse[] = [];
  for await (const piece of stream) pieces.push(piece);
  return pieces;
}

describe.each(chatVendors)('4.1 /v1beta generateContent on a vendor of $protocol', ({ protocol }) => {
  const model = `shop-${protocol}`;
  const models = () => clientOf(stack).models;

  it('a conversation with system text, and what it cost', async () => {
    const contents: Content[] = [
      { role: 'user', parts: [{ text: 'First' }] },
      { role: 'model', parts: [{ text: 'Answered' }] },
      { role: 'user', parts: [{ text: 'Second [cached=4]' }] },
    ];
    // OpenAI's reasoning models take no temperature.
    const sampling = protocol === 'openai-responses' ? {} : { temperature: 0.5 };
    const config = { systemInstruction: 'Be short.', maxOutputTokens: 900, ...sampling };
    const reply = await models().generateContent({ model, contents, config });
    expect(reply.text).toContain('You said: Second');
    expect(reply.candidates).toMatchObject([{ index: 0, finishReason: 'STOP', content: { role: 'model' } }]);
    expect(reply.responseId).toMatch(/./);
    expect(reply.modelVersion).toMatch(/./);
    const usage = reply.usageMetadata!;
    expect(usage.totalTokenCount).toBe(usage.promptTokenCount! + usage.candidatesTokenCount!);
    expect(usage.cachedContentTokenCount).toBe(4);
    expect(JSON.stringify(received().body)).toContain('Be short.');
    expect(await lastRow(stack)).toMatchObject({
      endpoint: '/v1beta/models/*:generateContent',
      model,
      channel: model,
      status: 200,
      outcome: 'ok',
      inputTokens: usage.promptTokenCount,
      cachedInputTokens: 4,
      outputTokens: usage.candidatesTokenCount,
      usageSource: 'measured',
    });
  });

  it('streamed, the same text and usage as whole', async () => {
    const contents = 'Stream this [chunks=5]';
    const whole = await models().generateContent({ model, contents });
    const pieces = await collect(await models().generateContentStream({ model, contents }));
    expect(textOf(pieces)).toBe(whole.text);
    expect(pieces.length).toBeGreaterThanOrEqual(5);
    const last = pieces.at(-1)!;
    expect(last.candidates).toMatchObject([{ finishReason: 'STOP' }]);
    const { promptTokenCount, candidatesTokenCount } = whole.usageMetadata!;
    expect(last.usageMetadata).toMatchObject({ promptTokenCount, candidatesTokenCount });
    expect(await lastRow(stack)).toMatchObject({
      endpoint: '/v1beta/models/*:streamGenerateContent',
      inputTokens: promptTokenCount,
      outputTokens: candidatesTokenCount,
    });
  });

  it('a chat of the SDK keeps its history over streamed turns', async () => {
    const chat = clientOf(stack).chats.create({ model });
    await collect(await chat.sendMessageStream({ message: 'One [chunks=3]' }));
    const second = await chat.sendMessage({ message: 'Two' });
    expect(second.text).toContain('You said: Two');
    expect(JSON.stringify(received().body)).toContain('You said: ');
    expect(chat.getHistory(true).length).toBeGreaterThanOrEqual(4);
  });

  it('images and files in', async () => {
    const parts: Part[] = [
      { text: 'What is this?' },
      { inlineData: { mimeType: 'image/png', data: png } },
      { inlineData: { mimeType: 'application/pdf', data: pdf, displayName: 'page.pdf' } },
    ].map((part) => (protocol === 'gemini-generate' ? withoutName(part) : part));
    const reply = await models().generateContent({ model, contents: [{ role: 'user', parts }] });
    expect(reply.text).toContain('You said: What is this?');
    const body = JSON.stringify(received().body);
    expect(body).toContain(png);
    expect(body).toContain(pdf);
  });

  it.each(['whole', 'streamed'])('parallel calls over two turns, %s, signatures unchanged', async (form) => {
    const config = {
      tools: [{ functionDeclarations: [lookup] }],
      thinkingConfig: { includeThoughts: true, thinkingBudget: 2000 },
    };
    const contents: Content[] = [{ role: 'user', parts: [{ text: 'Find them [calls=2] [reasoning=6]' }] }];
    const ask = async () => {
      if (form === 'whole') return [await models().generateContent({ model, contents, config })];
      return collect(await models().generateContentStream({ model, contents, config }));
    };
    const pieces = await ask();
    const calls = pieces.flatMap(({ functionCalls }) => functionCalls ?? []);
    expect(calls).toHaveLength(2);
    for (const call of calls) expect(call).toMatchObject({ name: 'lookup', args: { q: expect.any(String) } });
    expect(pieces.at(-1)!.candidates).toMatchObject([{ finishReason: 'STOP' }]);
    // As clients do: what came goes back as it came.
    contents.push({ role: 'model', parts: pieces.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []) });
    const results = calls.map((call, index) => ({
      functionResponse: { name: 'lookup', response: { result: `card ${index}` }, ...(call.id ? { id: call.id } : {}) },
    }));
    contents.push({ role: 'user', parts: results });
    const answer = textOf(await ask());
    expect(answer).toContain('You said: Find them');
    const sent = JSON.stringify(received().body);
    expect(sent).toContain('card 0');
    expect(sent).toContain('card 1');
    expect(sent).not.toContain('skip_thought_signature_validator');
  });

  it('a tool that must be called, and none that may be', async () => {
    const tools = [{ functionDeclarations: [lookup, { ...lookup, name: 'other' }] }];
    const choose = (mode: FunctionCallingConfigMode, names?: string[]) =>
      models().generateContent({
        model,
        contents: 'Do it [calls=1]',
        config: {
          tools,
          toolConfig: { functionCallingConfig: { mode, ...(names ? { allowedFunctionNames: names } : {}) } },
        },
      });
    const forced = await choose(FunctionCallingConfigMode.ANY, ['other']);
    expect(forced.functionCalls).toMatchObject([{ name: 'other' }]);
    const none = await choose(FunctionCallingConfigMode.NONE);
    expect(none.functionCalls).toBeUndefined();
    expect(none.text).toContain('You said');
  });

  it('structured output', async () => {
    const schema = {
      type: 'object',
      properties: { city: { type: 'string' }, count: { type: 'integer' } },
      required: ['city', 'count'],
      additionalProperties: false,
    };
    const config = { responseMimeType: 'application/json', responseJsonSchema: schema };
    const reply = await models().generateContent({ model, contents: 'As JSON', config });
    expect(JSON.parse(reply.text!)).toEqual({ city: expect.any(String), count: expect.any(Number) });
  });

  it('a bound on tokens, and thoughts', async () => {
    const bounded = await models().generateContent({
      model,
      contents: 'A long one [tokens=50]',
      config: { maxOutputTokens: protocol === 'openai-responses' ? 16 : 5 },
    });
    expect(bounded.candidates).toMatchObject([{ finishReason: 'MAX_TOKENS' }]);
    const config = { thinkingConfig: { includeThoughts: true, thinkingBudget: 2000 }, maxOutputTokens: 4000 };
    const thought = await models().generateContent({ model, contents: 'Think [reasoning=12]', config });
    expect(thought.usageMetadata).toMatchObject({ thoughtsTokenCount: 12, candidatesTokenCount: expect.any(Number) });
    expect(await lastRow(stack)).toMatchObject({
      reasoningTokens: 12,
      outputTokens: 12 + thought.usageMetadata!.candidatesTokenCount!,
    });
    // Chat completions of OpenAI count thoughts without showing them.
    const thoughts = thought.candidates![0]!.content!.parts!.filter((part) => part.thought);
    expect(thoughts.length > 0).toBe(protocol !== 'openai-chat');
  });

  it('a count of tokens', async () => {
    const { totalTokens } = await models().countTokens({ model, contents: 'Count these words' });
    expect(totalTokens).toBeGreaterThan(2);
  });
});

const withoutName = ({ inlineData, ...part }: Part): Part =>
  inlineData === undefined ? part : { inlineData: { mimeType: inlineData.mimeType!, data: inlineData.data! } };

it('4.1 stop sequences end an answer', async () => {
  for (const protocol of ['gemini-generate', 'openai-chat', 'anthropic-messages']) {
    const { models } = clientOf(stack);
    const reply = await models.generateContent({
      model: `shop-${protocol}`,
      contents: 'one END two',
      config: { stopSequences: ['END'] },
    });
    expect(reply.text).toContain('one');
    expect(reply.text).not.toContain('two');
    expect(reply.candidates).toMatchObject([{ finishReason: 'STOP' }]);
  }
});
