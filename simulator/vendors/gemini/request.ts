import type { Call } from '../../contract.ts';
import { checkGenerationConfig } from './config.ts';
import type { Content, GenerateRequest } from './contents.ts';
import { refuse, refuseField, refuseViolations } from './errors.ts';
import { checkFunctionTurns, checkTools } from './functions.ts';
import { checkMedia } from './media.ts';
import type { ModelFacts } from './models.ts';
import { parseMessage } from './parse.ts';

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

/** Parses a body and checks it, or refuses it as Gemini does. */
export function readGenerateRequest(call: Call, facts: ModelFacts): GenerateRequest {
  const parsed = readMessage('GenerateContentRequest', call) as Partial<GenerateRequest>;
  return checkGenerateRequest(parsed, call, facts);
}

export function checkGenerateRequest(parsed: Partial<GenerateRequest>, call: Call, facts: ModelFacts): GenerateRequest {
  const request = { ...parsed, contents: parsed.contents ?? [], generationConfig: parsed.generationConfig ?? {} };
  checkContents(request.contents, call, facts);
  checkGenerationConfig(request.generationConfig, facts, call);
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

function checkContents(contents: readonly Content[], call: Call, facts: ModelFacts): void {
  if (contents.length === 0)
    refuseField('contents', '* GenerateContentRequest.contents: contents is not specified', call);
  for (const [index, content] of contents.entries()) checkContent(content, index, call);
  checkFunctionTurns(contents, facts, call);
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
    checkMedia(part, call);
  });
}
