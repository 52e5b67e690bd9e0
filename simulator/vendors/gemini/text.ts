import { nextId } from '../../answers.ts';
import type { Call } from '../../contract.ts';
import { composeReply, countTokens, piecesOf, type ReplyText } from '../../reply-text.ts';
import { sampleValue } from '../../sample.ts';
import { readSteering, type Steering, withoutSteering } from '../../steering.ts';
import type { GenerationConfig } from './config.ts';
import { type GenerateRequest, lastUserText, roundsSoFar } from './contents.ts';
import { refuse } from './errors.ts';
import { callSignature, signatureOf } from './functions.ts';
import type { ModelFacts } from './models.ts';
import type { AnswerPart, Production } from './production.ts';

const CHARACTERS_PER_TOKEN = 4;
const THOUGHT_PIECES = 2;

/** A text model echoes, or calls the functions it was given. Its thoughts count against the output limit. */
export function textFragments(request: GenerateRequest, facts: ModelFacts, call: Call): Production {
  const { generationConfig: config, contents } = request;
  refuseUnfit(config, call);
  const prompt = lastUserText(contents);
  const steering = readSteering(prompt);
  const limit = config.maxOutputTokens ?? Number.POSITIVE_INFINITY;
  const thoughts = Math.min(thoughtTokens(config, steering), limit);
  const calls = functionCalls(request, steering, facts);
  const spoken = speak(config, prompt, steering, calls, limit - thoughts);
  const shown = thoughts > 0 && config.thinkingConfig?.includeThoughts ? thoughtFragments(prompt) : [];
  const signed = facts.signs && thoughts > 0 && calls.length === 0 && spoken.fragments.length > 0;
  const signature: AnswerPart[][] = signed ? [[{ text: '', thoughtSignature: signatureOf('text') }]] : [];
  const fragments = [...shown, ...spoken.fragments, ...signature];
  const candidates = config.candidateCount ?? 1;
  return {
    fragments: fragments.length > 0 ? fragments : [[]],
    images: [],
    render: JSON.stringify,
    finish: spoken.truncated ? 'MAX_TOKENS' : 'STOP',
    tokens: spoken.tokens * candidates,
    thoughts,
    cached: steering.cached,
    modality: 'TEXT',
    candidates,
    delay: steering.delay,
  };
}

function refuseUnfit({ responseModalities: modalities, imageConfig }: GenerationConfig, call: Call): void {
  if (modalities?.some((modality) => modality !== 'TEXT'))
    refuse(
      400,
      {
        message: `The requested combination of response modalities (${modalities.join(', ')}) is not supported by the model.`,
      },
      call,
    );
  if (imageConfig) refuse(400, { message: 'Image config is not supported by the model.' }, call);
}

/** A budget of 0 turns thinking off, a negative one leaves it to the model. */
function thoughtTokens({ thinkingConfig }: GenerationConfig, steering: Steering): number {
  const budget = thinkingConfig?.thinkingBudget ?? -1;
  return budget < 0 ? steering.reasoning : Math.min(steering.reasoning, budget);
}

function thoughtFragments(prompt: string): AnswerPart[][] {
  const text = `Thinking about “${withoutSteering(prompt).slice(0, 80).trim()}” – 考え中 …`;
  return piecesOf(text, THOUGHT_PIECES).pieces.map((piece) => [{ text: piece, thought: true }]);
}

interface Spoken {
  readonly fragments: AnswerPart[][];
  readonly tokens: number;
  readonly truncated: boolean;
}

/** Calls arrive whole, each in a stream element of its own; a text of `[tokens=]` may precede them. */
function speak(
  config: GenerationConfig,
  prompt: string,
  steering: Steering,
  calls: readonly AnswerPart[],
  limit: number,
): Spoken {
  if (limit <= 0) return { fragments: [], tokens: 0, truncated: true };
  if (calls.length === 0) return textOnly(replyTo(config, prompt, steering, limit));
  const remark = steering.tokens === undefined ? piecesOf('', 1) : composeReply(prompt, steering, limit);
  const called = calls.reduce((sum, part) => sum + countTokens(JSON.stringify(part.functionCall)), 0);
  if (remark.tokens + called > limit) return { ...textOnly(remark), tokens: limit, truncated: true };
  const fragments = [...textOnly(remark).fragments, ...calls.map((part) => [part])];
  return { fragments, tokens: remark.tokens + called, truncated: false };
}

function textOnly({ pieces, tokens, truncated }: ReplyText): Spoken {
  return { fragments: pieces.map((text) => [{ text }]), tokens, truncated };
}

function replyTo(config: GenerationConfig, prompt: string, steering: Steering, limit: number): ReplyText {
  const schema = config.responseJsonSchema ?? config.responseSchema;
  if (config.responseMimeType !== 'application/json' && schema === undefined)
    return composeReply(prompt, steering, limit, config.stopSequences);
  const value = schema === undefined ? { answer: 'Zürich 🙂' } : sampleValue(schema);
  const json = config.responseMimeType === 'text/x.enum' ? String(value) : JSON.stringify(value);
  const text = Array.from(json)
    .slice(0, limit * CHARACTERS_PER_TOKEN)
    .join('');
  return { ...piecesOf(text, steering.chunks), truncated: text.length < json.length };
}

/** Of several functions each round calls the next. Generation 3 names its calls and signs the first of a turn. */
function functionCalls(request: GenerateRequest, steering: Steering, facts: ModelFacts): AnswerPart[] {
  const { tools = [], toolConfig, contents } = request;
  const { mode = 'AUTO', allowedFunctionNames = [] } = toolConfig?.functionCallingConfig ?? {};
  const declared = tools.flatMap((tool) => tool.functionDeclarations ?? []);
  const allowed =
    allowedFunctionNames.length === 0 ? declared : declared.filter(({ name }) => allowedFunctionNames.includes(name!));
  const rounds = roundsSoFar(contents);
  const chosen = allowed[rounds % allowed.length];
  if (!chosen || mode === 'NONE' || rounds >= steering.rounds) return [];
  const args = sampleValue(chosen.parametersJsonSchema ?? chosen.parameters ?? { type: 'object' });
  return Array.from({ length: steering.calls }, (_, index) => ({
    functionCall: { ...(facts.signs ? { id: nextId('call-') } : {}), name: chosen.name, args },
    ...(facts.signs && index === 0 ? { thoughtSignature: callSignature(chosen.name!) } : {}),
  }));
}
