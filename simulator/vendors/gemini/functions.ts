import type { Call } from '../../contract.ts';
import { seal, unseal } from '../../signatures.ts';
import type { Content, FunctionDeclaration, GenerateRequest, Part } from './contents.ts';
import { refuse, refuseField } from './errors.ts';
import type { ModelFacts } from './models.ts';
import { schemaProblem } from './schema.ts';

const FUNCTION_NAME = /^[A-Za-z_][\w.:-]{0,127}$/;
/** Stands in for a signature that was never made, as Google documents it. */
const SKIPPED = 'skip_thought_signature_validator';

/** The signature of a part: of a call to a function, of a text, of an image. */
export const signatureOf = (part: string): string => seal(part);
export const callSignature = (name: string): string => signatureOf(`call ${name}`);

/** Refuses declarations and a configuration of calls that cannot be. */
export function checkTools({ tools = [], toolConfig, cachedContent, ...request }: GenerateRequest, call: Call): void {
  const names = new Set<string>();
  for (const [index, tool] of tools.entries()) {
    for (const [at, declaration] of (tool.functionDeclarations ?? []).entries()) {
      const path = `tools[${index}].function_declarations[${at}]`;
      checkDeclaration(declaration, path, call);
      if (names.has(declaration.name!))
        refuse(400, { message: `Duplicate function declaration found: ${declaration.name}` }, call);
      names.add(declaration.name!);
    }
  }
  const { mode, allowedFunctionNames = [] } = toolConfig?.functionCallingConfig ?? {};
  const forced = mode === 'ANY' || mode === 'VALIDATED';
  if (allowedFunctionNames.length > 0 && !forced)
    refuse(
      400,
      { message: 'Allowed function names should be set only when function calling mode is ANY or VALIDATED.' },
      call,
    );
  if (forced && names.size === 0)
    refuse(400, { message: 'Function calling config is set without function_declarations.' }, call);
  const stranger = allowedFunctionNames.find((name) => !names.has(name));
  if (stranger !== undefined)
    refuse(400, { message: `Allowed function name ${stranger} is not among the function declarations.` }, call);
  if (cachedContent !== undefined && (tools.length > 0 || toolConfig || request.systemInstruction))
    refuse(
      400,
      {
        message:
          'CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config.',
      },
      call,
    );
}

function checkDeclaration(declaration: FunctionDeclaration, place: string, call: Call): void {
  const { name = '', parameters, parametersJsonSchema } = declaration;
  const path = `GenerateContentRequest.${place}`;
  if (!FUNCTION_NAME.test(name))
    refuseField(
      `${place}.name`,
      `* ${path}.name: Invalid function name. Must start with a letter or an underscore.`,
      call,
    );
  if (parameters !== undefined && parametersJsonSchema !== undefined)
    refuseField(place, `* ${path}: parameters and parameters_json_schema are mutually exclusive.`, call);
  const problem = schemaProblem(parameters, `${path}.parameters`);
  if (problem !== undefined) refuseField(`${place}.parameters`, `* ${problem}`, call);
}

/** Turns of calls follow the user and are answered, all of them, by name; signatures come back as they were given. */
export function checkFunctionTurns(contents: readonly Content[], facts: ModelFacts, call: Call): void {
  for (const [index, { parts = [] }] of contents.entries()) {
    for (const part of parts) checkSignature(part, call);
    const calls = parts.filter(({ functionCall }) => functionCall);
    const responses = responsesOf(contents[index + 1]);
    if (calls.length > 0) {
      if (facts.signs) refuseUnsigned(calls[0]!, index, call);
      if (index === 0 || contents[index - 1]!.role === 'model')
        refuse(
          400,
          {
            message:
              'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
          },
          call,
        );
    }
    const isStray = calls.length === 0 && responses.length > 0;
    if (isStray || (index === 0 && responsesOf(contents[0]).length > 0))
      refuse(
        400,
        { message: 'Please ensure that function response turn comes immediately after a function call turn.' },
        call,
      );
    checkResponses(calls, responses, call);
  }
}

const responsesOf = (content: Content | undefined): Part[] =>
  (content?.parts ?? []).filter(({ functionResponse }) => functionResponse);

function checkSignature({ thoughtSignature: signature, functionCall }: Part, call: Call): void {
  if (signature === undefined || signature === SKIPPED) return;
  const sealed = unseal(signature);
  if (sealed === undefined || (functionCall && sealed !== `call ${functionCall.name}`))
    refuse(400, { message: 'Corrupted thought signature.' }, call);
}

/** Of parallel calls the first one carries the signature. */
function refuseUnsigned({ functionCall, thoughtSignature }: Part, index: number, call: Call): void {
  if (thoughtSignature !== undefined) return;
  refuse(
    400,
    {
      message: `Function call is missing a thought_signature in functionCall parts. Additional data, function call \`${functionCall?.name}\`, position ${index + 1}.`,
    },
    call,
  );
}

function checkResponses(calls: readonly Part[], responses: readonly Part[], call: Call): void {
  if (responses.length !== calls.length)
    refuse(
      400,
      {
        message:
          'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
      },
      call,
    );
  const open = calls.map(({ functionCall }) => functionCall!);
  for (const { functionResponse } of responses) {
    const { id, name, response } = functionResponse!;
    if (!name)
      refuse(
        400,
        { message: 'GenerateContentRequest.contents.parts.function_response.name: Name cannot be empty.' },
        call,
      );
    if (response === undefined)
      refuse(
        400,
        { message: 'GenerateContentRequest.contents.parts.function_response.response: required field.' },
        call,
      );
    const at = open.findIndex((asked) => asked.name === name && (id === undefined || !asked.id || asked.id === id));
    if (at < 0)
      refuse(400, { message: `Function response ${name} does not match a function call of the turn before.` }, call);
    open.splice(at, 1);
  }
}
