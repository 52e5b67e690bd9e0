import { type Content, FunctionCallingConfigMode, GoogleGenAI, type Part, ThinkingLevel } from '@google/genai';
import { describe, expect, it } from 'vitest';
import { createPictures } from '../../simulator/images/pictures.ts';
import { payloadsOf, post, useSimulator } from './start.ts';
import { exchange, unchunk } from './wire.ts';

const simulator = useSimulator();
const base = (): string => `${simulator.current.url}/gemini/v1beta`;
const client = (): GoogleGenAI =>
  new GoogleGenAI({ apiKey: 'good', httpOptions: { baseUrl: `${simulator.current.url}/gemini` } });
const MODEL = 'gemini-3.6-flash';
const OLDER = 'gemini-2.5-flash';
const says = (text: string) => [{ role: 'user', parts: [{ text }] }];
const call = (action: string, body: object, model = MODEL) => post(`${base()}/models/${model}:${action}`, body);
const generate = (body: object, model = MODEL) => call('generateContent', { contents: says('Hello'), ...body }, model);
const refusal = async (body: object, model = MODEL): Promise<string> => {
  const reply = await generate(body, model);
  expect(reply).toMatchObject({ status: 400, body: { error: { code: 400, status: 'INVALID_ARGUMENT' } } });
  return reply.body.error.message;
};
const declare = (...names: string[]) => {
  const parametersJsonSchema = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] };
  return [{ functionDeclarations: names.map((name) => ({ name, description: 'd', parametersJsonSchema })) }];
};
const tools = declare('lookup', 'store');

describe('functions', () => {
  it('are called in parallel, named and signed; the results lead to a text', async () => {
    const contents: Content[] = says('go [calls=2] [tokens=6]');
    const first = await client().models.generateContent({ model: MODEL, contents, config: { tools } });
    const parts = first.candidates![0]!.content!.parts!;
    expect(parts).toEqual([
      { text: expect.any(String) },
      {
        functionCall: { id: expect.any(String), name: 'lookup', args: { q: 'Zürich' } },
        thoughtSignature: expect.any(String),
      },
      { functionCall: { id: expect.any(String), name: 'lookup', args: { q: 'Zürich' } } },
    ]);
    const results = first.functionCalls!.map(({ id, name }) => ({
      functionResponse: { id: id!, name: name!, response: { result: 42 } },
    }));
    contents.push(first.candidates![0]!.content!, { role: 'user', parts: results });
    const second = await client().models.generateContent({ model: MODEL, contents, config: { tools } });
    expect(second.text).toContain('You said: go');
    expect(second.candidates![0]!.finishReason).toBe('STOP');
  });

  it('arrive whole in a stream, each in an element of its own', async () => {
    const stream = await client().models.generateContentStream({
      model: MODEL,
      contents: says('go [calls=3]'),
      config: { tools },
    });
    const names = [];
    for await (const chunk of stream) names.push(chunk.functionCalls!.map(({ name }) => name));
    expect(names).toEqual([['lookup'], ['lookup'], ['lookup']]);
  });

  it('run in a loop of rounds, each calling the next', async () => {
    const contents: Content[] = says('go [rounds=3]');
    const called: (string | undefined)[] = [];
    for (;;) {
      const reply = await client().models.generateContent({ model: MODEL, contents, config: { tools } });
      const [asked] = reply.functionCalls ?? [];
      if (!asked) break;
      called.push(asked.name);
      const response = { name: asked.name!, response: { ok: true } };
      contents.push(reply.candidates![0]!.content!, { role: 'user', parts: [{ functionResponse: response }] });
    }
    expect(called).toEqual(['lookup', 'store', 'lookup']);
  });

  it('are forced, chosen and forbidden by the mode', async () => {
    const named = async (functionCallingConfig: object) => {
      const reply = await generate({ tools, toolConfig: { functionCallingConfig } });
      return reply.body.candidates[0].content.parts[0].functionCall?.name;
    };
    const { ANY, NONE, VALIDATED } = FunctionCallingConfigMode;
    expect(await named({ mode: ANY, allowedFunctionNames: ['store'] })).toBe('store');
    expect(await named({ mode: VALIDATED })).toBe('lookup');
    expect(await named({ mode: NONE })).toBeUndefined();
    const config = (functionCallingConfig: object, given: object = { tools }) =>
      refusal({ ...given, toolConfig: { functionCallingConfig } });
    expect(await config({ mode: ANY, allowedFunctionNames: ['z'] })).toContain('z is not among');
    expect(await config({ mode: 'AUTO', allowedFunctionNames: ['store'] })).toContain('only when');
    expect(await config({ mode: ANY }, {})).toContain('without function_declarations');
    expect(await config({ mode: 'REQUIRED' })).toContain('Invalid value at');
  });

  it('of the generation before have neither ids nor signatures, and need none back', async () => {
    const [part] = (await generate({ tools }, OLDER)).body.candidates[0].content.parts;
    expect(part).toEqual({ functionCall: { name: 'lookup', args: { q: 'Zürich' } } });
    const response = { name: 'lookup', response: {} };
    const contents = [
      ...says('x'),
      { role: 'model', parts: [part] },
      { role: 'user', parts: [{ functionResponse: response }] },
    ];
    expect((await generate({ tools, contents }, OLDER)).status).toBe(200);
    expect(await refusal({ tools, contents })).toContain('missing a thought_signature');
  });

  const asked = async (prompt = 'go'): Promise<Part[]> =>
    (await generate({ tools, contents: says(prompt) })).body.candidates[0].content.parts;
  const answer = (...names: string[]) => names.map((name) => ({ functionResponse: { name, response: { ok: 1 } } }));
  const history = (calls: object[], results: object[]) => ({
    tools,
    contents: [...says('go'), { role: 'model', parts: calls }, { role: 'user', parts: results }],
  });

  it('come back with the signature they were given, or with the documented escape', async () => {
    const [part] = await asked();
    const signature = part!.thoughtSignature!;
    const swapped = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
    expect((await generate(history([part!], answer('lookup')))).status).toBe(200);
    const escaped = { ...part, thoughtSignature: 'skip_thought_signature_validator' };
    expect((await generate(history([escaped], answer('lookup')))).status).toBe(200);
    for (const wrong of [swapped, 'c2lnbmF0dXJl'])
      expect(await refusal(history([{ ...part, thoughtSignature: wrong }], answer('lookup')))).toBe(
        'Corrupted thought signature.',
      );
    const other = { functionCall: { name: 'store', args: {} }, thoughtSignature: signature };
    expect(await refusal(history([other], answer('store')))).toBe('Corrupted thought signature.');
  });

  it('are answered all, by name and id, with objects, right after the call', async () => {
    const calls = await asked('go [calls=2]');
    expect((await generate(history(calls, answer('lookup', 'lookup')))).status).toBe(200);
    expect(await refusal(history(calls, answer('lookup')))).toContain('number of function response parts');
    expect(await refusal(history(calls, answer('lookup', 'store')))).toContain('does not match a function call');
    const strange = [{ functionResponse: { id: 'z', name: 'lookup', response: {} } }, ...answer('lookup')];
    expect(await refusal(history(calls, strange))).toContain('does not match a function call');
    const text = [{ functionResponse: { name: 'lookup', response: 'text' } }, ...answer('lookup')];
    expect(await refusal(history(calls, text))).toContain('function_response.response');
    const nameless = [{ functionResponse: { response: {} } }, ...answer('lookup')];
    expect(await refusal(history(calls, nameless))).toContain('Name cannot be empty');
    expect(await refusal(history([{ text: 'x' }], answer('lookup')))).toContain(
      'immediately after a function call turn',
    );
    expect(
      await refusal({ tools, contents: [{ role: 'model', parts: calls }, { parts: answer('lookup', 'lookup') }] }),
    ).toContain('function call turn comes immediately after');
  });

  it.each([
    [{ name: '1st' }, 'Invalid function name'],
    [
      { name: 'f', parameters: { type: 'OBJECT', properties: { a: { type: 'STRING' } } }, parametersJsonSchema: {} },
      'mutually exclusive',
    ],
    [{ name: 'f', parameters: { type: 'OBJECT' } }, 'parameters.properties: should be non-empty for OBJECT type'],
    [
      { name: 'f', parameters: { type: 'OBJECT', properties: { a: { type: 'ARRAY' } } } },
      'properties[a].items: missing field',
    ],
    [{ name: 'f', parameters: { type: 'object', additionalProperties: false } }, 'Unknown name "additionalProperties"'],
    [{ name: 'lookup' }, 'Duplicate function declaration'],
  ])('are refused when declared as %j', async (declaration, message) => {
    expect(await refusal({ tools: [...tools, { functionDeclarations: [declaration] }] })).toContain(message);
  });
});

describe('thoughts', () => {
  it('are counted apart, shown when asked for, and signed at the end', async () => {
    const ask = { model: MODEL, contents: says('Think [reasoning=30]') };
    const config = { thinkingConfig: { includeThoughts: true, thinkingLevel: ThinkingLevel.LOW } };
    const whole = await client().models.generateContent({ ...ask, config });
    const [thought, text, ...rest] = whole.candidates![0]!.content!.parts!;
    expect(thought).toMatchObject({ thought: true, text: expect.stringContaining('Think') });
    expect(text).toMatchObject({ text: expect.stringContaining('You said'), thoughtSignature: expect.any(String) });
    expect(rest).toEqual([]);
    const usage = whole.usageMetadata!;
    expect(usage.thoughtsTokenCount).toBe(30);
    expect(usage.totalTokenCount).toBe(usage.promptTokenCount! + usage.candidatesTokenCount! + 30);
    const parts: Part[] = [];
    for await (const chunk of await client().models.generateContentStream({ ...ask, config }))
      parts.push(...chunk.candidates![0]!.content!.parts!);
    const joined = (thoughts: boolean) =>
      parts
        .filter((part) => (part.thought ?? false) === thoughts)
        .map((part) => part.text)
        .join('');
    expect([joined(true), joined(false)]).toEqual([thought!.text, text!.text]);
    expect(parts.at(-1)).toEqual({ text: '', thoughtSignature: text!.thoughtSignature });
    const hidden = await client().models.generateContent(ask);
    expect(hidden.candidates![0]!.content!.parts).toEqual([text]);
    const contents = [...ask.contents, whole.candidates![0]!.content!, ...says('and?')];
    expect((await generate({ contents })).status).toBe(200);
  });

  it('fill the output limit, obey the budget and the kind of the model', async () => {
    const contents = says('x [reasoning=30]');
    const none = await generate({ contents, generationConfig: { maxOutputTokens: 20 } });
    expect(none.body.candidates[0]).toEqual({ content: { role: 'model' }, finishReason: 'MAX_TOKENS', index: 0 });
    expect(none.body.usageMetadata).toMatchObject({ thoughtsTokenCount: 20, candidatesTokenCount: 0 });
    const budget = async (thinkingBudget: number) =>
      (await generate({ contents, generationConfig: { thinkingConfig: { thinkingBudget } } }, OLDER)).body.usageMetadata
        .thoughtsTokenCount;
    expect([await budget(0), await budget(8), await budget(-1)]).toEqual([undefined, 8, 30]);
    const refused = (thinkingConfig: object, model?: string) =>
      refusal({ generationConfig: { thinkingConfig } }, model);
    expect(await refused({ thinkingBudget: 8, thinkingLevel: 'LOW' })).toContain('only one of thinking budget');
    expect(await refused({ thinkingLevel: 'LOW' }, OLDER)).toContain('Thinking level is not supported');
    expect(await refused({ thinkingBudget: 99_999 }, OLDER)).toContain('between 0 and 24576');
    expect(await refused({ thinkingLevel: 'XHIGH' })).toContain('Invalid value at');
  });
});

describe('generation', () => {
  it('writes JSON for a schema, cut where the limit is', async () => {
    const schema = {
      type: 'object',
      properties: { n: { type: 'integer' }, s: { type: 'array', items: { type: 'string' } } },
    };
    const config = { responseMimeType: 'application/json', responseJsonSchema: schema };
    const { text } = await client().models.generateContent({ model: MODEL, contents: 'x', config });
    expect(JSON.parse(text!)).toEqual({ n: 42, s: ['Zürich'] });
    const cut = await generate({ generationConfig: { ...config, maxOutputTokens: 2 } });
    expect(cut.body.candidates[0]).toMatchObject({
      finishReason: 'MAX_TOKENS',
      content: { parts: [{ text: '{"n":42,' }] },
    });
  });

  it('makes several candidates, whole and streamed, rated where thresholds are set', async () => {
    const safetySettings = [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_ONLY_HIGH' }];
    const body = {
      contents: says('Hello'),
      generationConfig: { candidateCount: 2, seed: 7, presencePenalty: 1 },
      safetySettings,
    };
    const whole = (await generate(body)).body;
    expect(whole.candidates.map(({ index }: { index: number }) => index)).toEqual([0, 1]);
    expect(whole.usageMetadata.candidatesTokenCount).toBe(16);
    expect(whole.candidates[1].safetyRatings).toEqual([
      { category: 'HARM_CATEGORY_HARASSMENT', probability: 'NEGLIGIBLE' },
    ]);
    const elements = (await call('streamGenerateContent', body)).body;
    expect(elements.every(({ candidates }: { candidates: unknown[] }) => candidates.length === 2)).toBe(true);
  });

  it('takes images, audio, PDFs and files, and counts them by modality', async () => {
    const bytes = createPictures('exact').draw({ format: 'png', width: 8, height: 8, seed: 'i' }).bytes;
    const inline = (mimeType: string, data: Buffer) => ({ inlineData: { mimeType, data: data.toString('base64') } });
    const parts = [
      { text: 'look [cached=100]' },
      inline('image/png', bytes),
      inline('audio/wav', Buffer.from('RIFF')),
      inline('application/pdf', Buffer.from('%PDF-1.7')),
      { fileData: { mimeType: 'video/mp4', fileUri: 'https://example.com/a.mp4' } },
    ];
    const { usageMetadata } = (await generate({ contents: [{ parts }] })).body;
    expect(usageMetadata.promptTokensDetails).toEqual([
      { modality: 'TEXT', tokenCount: 5 },
      { modality: 'IMAGE', tokenCount: 258 },
      { modality: 'AUDIO', tokenCount: 32 },
      { modality: 'DOCUMENT', tokenCount: 258 },
      { modality: 'VIDEO', tokenCount: 258 },
    ]);
    expect(usageMetadata).toMatchObject({ promptTokenCount: 811, cachedContentTokenCount: 100 });
    const refused = (part: object) => refusal({ contents: [{ parts: [part] }] });
    expect(await refused(inline('image/gif', bytes))).toBe('Unsupported MIME type: image/gif');
    expect(await refused(inline('image/png', Buffer.from('none')))).toContain('Unable to process input image');
    expect(await refused(inline('application/pdf', bytes))).toBe('The document has no pages.');
    expect(await refused({ fileData: { mimeType: 'image/png', fileUri: 'a.png' } })).toContain('file uri');
  });

  it.each([
    [{ stopSequences: ['a', 'b', 'c', 'd', 'e', 'f'] }, 'at most 5'],
    [{ stopSequences: [''] }, 'must not be empty'],
    [{ seed: 2 ** 31 }, 'seed must be in the range'],
    [{ presencePenalty: 3 }, 'presence_penalty must be in the range [-2, 2]'],
    [{ logprobs: 3 }, 'response_logprobs'],
    [{ candidateCount: 9 }, 'candidate_count must be in the range [1, 8]'],
    [{ maxOutputTokens: 0 }, 'max_output_tokens must be in the range'],
    [{ responseMimeType: 'image/png' }, 'allowed mimetypes are'],
    [{ responseJsonSchema: { type: 'object' } }, 'only be set when response_mime_type is application/json'],
    [
      { responseMimeType: 'application/json', responseSchema: { type: 'OBJECT' } },
      'response_schema.properties: should be non-empty',
    ],
  ])('refuses %j', async (generationConfig, message) => {
    expect(await refusal({ generationConfig })).toContain(message);
  });

  it('refuses unknown safety categories and cached content together with what it holds', async () => {
    expect(await refusal({ safetySettings: [{ category: 'HARM_CATEGORY_X', threshold: 'OFF' }] })).toContain(
      'HarmCategory',
    );
    expect(await refusal({ cachedContent: 'cachedContents/a', tools })).toContain('CachedContent can not be used');
    expect((await generate({ cachedContent: 'cachedContents/a' })).status).toBe(200);
  });

  it('stops at a sequence', async () => {
    const { body } = await generate({ generationConfig: { stopSequences: ['llo'] } });
    expect(body.candidates[0]).toMatchObject({ finishReason: 'STOP', content: { parts: [{ text: 'You said: He' }] } });
  });

  it('is blocked with feedback or a finish reason, in either form of stream', async () => {
    const blocked = await client().models.generateContent({ model: `${MODEL}!refuse=prompt`, contents: 'x' });
    expect(blocked.promptFeedback!.blockReason).toBe('PROHIBITED_CONTENT');
    expect(blocked.candidates).toBeUndefined();
    for await (const chunk of await client().models.generateContentStream({
      model: `${MODEL}!refuse=safety`,
      contents: 'x',
    }))
      expect(chunk.candidates![0]).toMatchObject({ finishReason: 'SAFETY' });
    const body = { contents: says('x') };
    expect((await call('streamGenerateContent', body, `${MODEL}!refuse=prompt`)).body).toHaveLength(1);
    expect((await call('countTokens', body, `${MODEL}!refuse=prompt`)).body.totalTokens).toBe(1);
  });

  it('breaks off with an error element that keeps a JSON array an array', async () => {
    for (const after of [0, 2]) {
      const { body } = await call('streamGenerateContent', { contents: says('x') }, `${MODEL}!errorframe=${after}`);
      expect(body).toHaveLength(after + 1);
      expect(body.at(-1).error).toMatchObject({ code: 503, status: 'UNAVAILABLE' });
    }
    const path = `/gemini/v1beta/models/${MODEL}!errorframe=2:streamGenerateContent?alt=sse`;
    const { body } = await exchange({ url: simulator.current.url, path, body: { contents: says('x') } });
    expect(JSON.parse(payloadsOf(unchunk(body).text).at(-1)!).error.status).toBe('UNAVAILABLE');
  });
});

describe('tokens and embeddings', () => {
  it('counts contents, or a whole request with its tools', async () => {
    const { totalTokens } = await client().models.countTokens({ model: MODEL, contents: 'Hello' });
    expect(totalTokens).toBe(2);
    const count = (body: object) => call('countTokens', body);
    const generateContentRequest = { model: `models/${MODEL}`, contents: says('Hello'), tools };
    expect((await count({ generateContentRequest })).body.totalTokens).toBeGreaterThan(20);
    expect((await count({ generateContentRequest, contents: says('x') })).status).toBe(400);
    expect((await count({ generateContentRequest: { ...generateContentRequest, model: 'x' } })).status).toBe(400);
  });

  it('embeds one text or many, shortened as asked', async () => {
    const model = 'gemini-embedding-001';
    const { embeddings } = await client().models.embedContent({
      model,
      contents: ['one', 'two'],
      config: { outputDimensionality: 64, taskType: 'SEMANTIC_SIMILARITY' },
    });
    expect(embeddings!.map(({ values }) => values!.length)).toEqual([64, 64]);
    const content = { parts: [{ text: 'one' }] };
    const { body } = await call('embedContent', { content }, model);
    expect(body.embedding.values).toHaveLength(3072);
    const embed = (extra: object) => call('embedContent', { content, ...extra }, model);
    expect((await embed({ outputDimensionality: 4000 })).body.error.message).toContain('in the range [1, 3072]');
    expect((await embed({ taskType: 'SEARCH' })).body.error.message).toContain('TaskType');
    expect((await embed({ title: 'T' })).body.error.message).toContain('RETRIEVAL_DOCUMENT');
    expect((await embed({ content: { parts: [{ text: '' }] } })).body.error.message).toContain('content is empty');
    const batch = (requests: object[]) => call('batchEmbedContents', { requests }, model);
    expect((await batch([{ content }])).body.error.message).toContain('unexpected model name format');
    expect((await batch([])).status).toBe(400);
    expect((await batch(new Array(101).fill({ model: `models/${model}`, content }))).status).toBe(400);
  });

  it('keeps the models to their methods', async () => {
    const { error } = (await call('embedContent', { content: { parts: [{ text: 'x' }] } })).body;
    expect(error).toMatchObject({ code: 404, message: expect.stringContaining('not supported for embedContent') });
    expect((await generate({}, 'gemini-embedding-001')).status).toBe(404);
  });
});
