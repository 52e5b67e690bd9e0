import type { Call } from '../../contract.ts';
import { refuse, refuseField, refuseViolations } from './errors.ts';
import { parseMessage } from './parse.ts';

export interface Part {
  readonly text?: string;
  readonly inlineData?: { mimeType?: string; data?: string };
  readonly fileData?: object;
  readonly functionCall?: { id?: string; name?: string };
  readonly functionResponse?: { id?: string; name?: string };
  readonly thought?: boolean;
  readonly thoughtSignature?: string;
}

export interface Content {
  readonly role?: string;
  readonly parts?: readonly Part[];
}

interface GenerationConfig {
  readonly stopSequences?: readonly string[];
  readonly responseMimeType?: string;
  readonly responseSchema?: unknown;
  readonly responseJsonSchema?: unknown;
  readonly responseModalities?: readonly string[];
  readonly candidateCount?: number;
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly thinkingConfig?: { includeThoughts?: boolean; thinkingBudget?: number; thinkingLevel?: string };
  readonly imageConfig?: { aspectRatio?: string; imageSize?: string };
}

interface FunctionDeclaration {
  readonly name?: string;
  readonly parameters?: unknown;
  readonly parametersJsonSchema?: unknown;
}

export interface GenerateRequest {
  readonly contents: readonly Content[];
  readonly systemInstruction?: Content;
  readonly tools?: readonly { functionDeclarations?: readonly FunctionDeclaration[] }[];
  readonly toolConfig?: { functionCallingConfig?: { mode?: string; allowedFunctionNames?: readonly string[] } };
  readonly generationConfig: GenerationConfig;
}

const DATA_FIELDS = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
] as const;
const FUNCTION_NAME = /^[A-Za-z_][\w.:-]{0,127}$/;

/** Parses a body as `type` and checks it, or refuses it as Gemini does. */
export function readGenerateRequest(call: Call): GenerateRequest {
  const parsed = readMessage('GenerateContentRequest', call) as Partial<GenerateRequest>;
  const request = { ...parsed, contents: parsed.contents ?? [], generationConfig: parsed.generationConfig ?? {} };
  checkContents(request.contents, call);
  checkGenerationConfig(request.generationConfig, call);
  checkTools(request, call);
  return request;
}

export function readMessage(type: string, call: Call): unknown {
  const { body } = call;
  if (body.kind !== 'json') {
    const reason = body.kind === 'broken' ? body.reason : 'Request must be a JSON object.';
    return refuse(400, { message: `Invalid JSON payload received. ${reason}` }, call);
  }
  const { value, violations } = parseMessage(type, body.value, call.fault.lenient);
  refuseViolations(violations, call);
  return value;
}

export function checkContents(contents: readonly Content[], call: Call): void {
  if (contents.length === 0)
    refuseField('contents', '* GenerateContentRequest.contents: contents is not specified', call);
  for (const [index, content] of contents.entries()) checkContent(content, index, call);
  checkFunctionTurns(contents, call);
}

function checkContent({ role = 'user', parts = [] }: Content, index: number, call: Call): void {
  if (!['user', 'model', 'function'].includes(role))
    refuse(400, { message: 'Please use a valid role: user, model.' }, call);
  if (parts.length === 0)
    refuseField(
      `contents[${index}].parts`,
      `* GenerateContentRequest.contents[${index}].parts: contents.parts must not be empty.`,
      call,
    );
  parts.forEach((part, at) => {
    const given = DATA_FIELDS.filter((name) => (part as Record<string, unknown>)[name] !== undefined);
    const path = `GenerateContentRequest.contents[${index}].parts[${at}].data`;
    if (given.length !== 1)
      refuseField(path, `* ${path}: required oneof field 'data' must have one initialized field`, call);
    if (part.inlineData && !(part.inlineData.mimeType && part.inlineData.data))
      refuseField(path, `* ${path}: inline_data needs mime_type and data`, call);
  });
}

/** Each turn of function calls is answered by as many responses, and its first call carries its thought signature. */
function checkFunctionTurns(contents: readonly Content[], call: Call): void {
  for (const [index, { parts = [] }] of contents.entries()) {
    const calls = parts.filter(({ functionCall }) => functionCall);
    if (calls.length === 0) continue;
    if (calls[0]!.thoughtSignature === undefined)
      refuse(
        400,
        {
          message: `Function call is missing a thought_signature in functionCall parts. Additional data, function call \`${calls[0]!.functionCall?.name}\`, position ${index + 1}.`,
        },
        call,
      );
    const responses = (contents[index + 1]?.parts ?? []).filter(({ functionResponse }) => functionResponse);
    if (responses.length !== calls.length)
      refuse(
        400,
        {
          message:
            'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
        },
        call,
      );
  }
}

function checkGenerationConfig(config: GenerationConfig, call: Call): void {
  const { temperature, topP, maxOutputTokens, candidateCount = 1, stopSequences = [], thinkingConfig = {} } = config;
  const inRange = (name: string, value: number | undefined, least: number, most: number): void => {
    if (value !== undefined && (value < least || value > most))
      refuseField(
        `generation_config.${name}`,
        `* GenerateContentRequest.generation_config.${name}: ${name} must be in the range [${least}, ${most}].`,
        call,
      );
  };
  inRange('temperature', temperature, 0, 2);
  inRange('top_p', topP, 0, 1);
  inRange('max_output_tokens', maxOutputTokens, 1, 65_536);
  inRange('candidate_count', candidateCount, 1, 8);
  if (stopSequences.length > 5)
    refuseField('generation_config.stop_sequences', 'The number of stop sequences must be at most 5.', call);
  if (thinkingConfig.thinkingLevel !== undefined && thinkingConfig.thinkingBudget !== undefined)
    refuse(400, { message: 'You can only set only one of thinking budget and thinking level.' }, call);
}

function checkTools({ tools = [], toolConfig }: GenerateRequest, call: Call): void {
  const declarations = tools.flatMap((tool) => tool.functionDeclarations ?? []);
  for (const [index, { name = '', parameters, parametersJsonSchema }] of declarations.entries()) {
    const path = `GenerateContentRequest.tools[0].function_declarations[${index}]`;
    if (!FUNCTION_NAME.test(name))
      refuseField(
        `${path}.name`,
        `* ${path}.name: Invalid function name. Must start with a letter or an underscore.`,
        call,
      );
    if (parameters !== undefined && parametersJsonSchema !== undefined)
      refuseField(path, `* ${path}: parameters and parameters_json_schema are mutually exclusive.`, call);
  }
  const { mode, allowedFunctionNames = [] } = toolConfig?.functionCallingConfig ?? {};
  if (allowedFunctionNames.length > 0 && mode !== 'ANY' && mode !== 'VALIDATED')
    refuse(
      400,
      { message: 'Allowed function names should be set only when function calling mode is ANY or VALIDATED.' },
      call,
    );
}

/** Text of all parts that are no thoughts. */
export function textOf(contents: readonly Content[]): string {
  const texts = contents.flatMap(({ parts = [] }) =>
    parts.filter(({ thought }) => !thought).map(({ text = '' }) => text),
  );
  return texts.filter((text) => text !== '').join('\n');
}

export function lastUserText(contents: readonly Content[]): string {
  const last = contents.findLast(({ role = 'user', parts = [] }) => role === 'user' && parts.some(({ text }) => text));
  return last ? textOf([last]) : '';
}

export function inputImages(contents: readonly Content[]): Part[] {
  return contents.flatMap(({ parts = [] }) =>
    parts.filter((part) => part.fileData || part.inlineData?.mimeType?.startsWith('image/')),
  );
}
