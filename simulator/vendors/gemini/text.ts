import { nextId } from '../../answers.ts';
import type { Call } from '../../contract.ts';
import { composeReply, countTokens, piecesOf } from '../../reply-text.ts';
import { sampleValue } from '../../sample.ts';
import { readSteering, type Steering } from '../../steering.ts';
import { refuse } from './errors.ts';
import type { AnswerPart, Production } from './production.ts';
import { type GenerateRequest, lastUserText } from './request.ts';

const SIGNATURE = Buffer.from('simulator').toString('base64');

/** A text model echoes, or calls the functions it was given. */
export function textFragments(request: GenerateRequest, call: Call): Production {
  const { generationConfig: config, contents } = request;
  if (config.responseModalities?.some((modality) => modality !== 'TEXT'))
    refuse(
      400,
      {
        message: `The requested combination of response modalities (${config.responseModalities.join(', ')}) is not supported by the model.`,
      },
      call,
    );
  if (config.imageConfig) refuse(400, { message: 'Image config is not supported by the model.' }, call);
  const prompt = lastUserText(contents);
  const steering = readSteering(prompt);
  const calls = functionCalls(request, steering.calls);
  const { fragments, tokens, truncated } =
    calls.length > 0 ? calledFragments(calls) : spoken(request, prompt, steering);
  const thinks = config.thinkingConfig?.includeThoughts && steering.reasoning > 0;
  const thought: AnswerPart[][] = thinks ? [[{ text: 'Thinking about the request …', thought: true }]] : [];
  return {
    fragments: [...thought, ...fragments],
    images: [],
    render: JSON.stringify,
    finish: truncated ? 'MAX_TOKENS' : 'STOP',
    tokens: tokens * (config.candidateCount ?? 1),
    thoughts: steering.reasoning,
    cached: steering.cached,
    modality: 'TEXT',
    candidates: config.candidateCount ?? 1,
    delay: steering.delay,
  };
}

interface Fragments {
  readonly fragments: AnswerPart[][];
  readonly tokens: number;
  readonly truncated: boolean;
}

function spoken({ generationConfig: config }: GenerateRequest, prompt: string, steering: Steering): Fragments {
  const schema = config.responseJsonSchema ?? config.responseSchema;
  const asJson = config.responseMimeType === 'application/json' || schema !== undefined;
  const reply = asJson
    ? piecesOf(JSON.stringify(schema === undefined ? { answer: 'Zürich 🙂' } : sampleValue(schema)), steering.chunks)
    : composeReply(prompt, steering, config.maxOutputTokens, config.stopSequences);
  return { fragments: reply.pieces.map((text) => [{ text }]), tokens: reply.tokens, truncated: reply.truncated };
}

function functionCalls({ tools = [], toolConfig, contents }: GenerateRequest, count: number): AnswerPart[] {
  const { mode = 'AUTO', allowedFunctionNames } = toolConfig?.functionCallingConfig ?? {};
  const declared = tools.flatMap((tool) => tool.functionDeclarations ?? []);
  const answered = contents.at(-1)?.parts?.some(({ functionResponse }) => functionResponse);
  const chosen = declared.find(({ name = '' }) => allowedFunctionNames?.includes(name) ?? true);
  if (!chosen || mode === 'NONE' || answered) return [];
  const args = sampleValue(chosen.parametersJsonSchema ?? chosen.parameters ?? { type: 'object' });
  return Array.from({ length: count }, (_, index) => ({
    functionCall: { id: nextId('call-'), name: chosen.name, args },
    ...(index === 0 ? { thoughtSignature: SIGNATURE } : {}),
  }));
}

/** Each call arrives whole, in a stream element of its own. */
function calledFragments(calls: readonly AnswerPart[]): Fragments {
  return {
    fragments: calls.map((part) => [part]),
    tokens: calls.reduce((sum, part) => sum + countTokens(JSON.stringify(part.functionCall)), 0),
    truncated: false,
  };
}
