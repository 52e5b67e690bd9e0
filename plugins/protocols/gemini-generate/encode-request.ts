/** A neutral request for a vendor that speaks generateContent; the model stands in its path. */
import { type ChatRequest, type ChatTool, type JsonObject, type JsonValue, present } from '../../../engine/plugin.ts';
import { encodeConfig } from './encode-config.ts';
import { encodeContents, encodeSystem } from './encode-contents.ts';
import { extraFor } from './extra.ts';

/** Throws `unsupported_parameter` for what this protocol cannot say. */
export function encodeRequest(request: ChatRequest, vendorModel: string): JsonObject {
  const extra = extraFor(request.extra);
  const declarations = request.tools.map(encodeTool);
  const tools = declarations.length === 0 ? extra.tools : [{ functionDeclarations: declarations }, ...extra.tools];
  const config = { ...encodeConfig(request, vendorModel), ...extra.settings };
  const contents = encodeContents(request.messages, vendorModel);
  const system = encodeSystem(request.messages);
  // Nothing but system text: somebody has to say it, or there would be no turn at all.
  const isAlone = contents.length === 0 && system !== null;
  return {
    ...extra.fields,
    contents: isAlone ? [{ role: 'user', ...system }] : contents,
    ...present({
      systemInstruction: isAlone ? null : system,
      tools,
      toolConfig: declarations.length === 0 ? null : encodeChoice(request.toolChoice),
      generationConfig: Object.keys(config).length === 0 ? null : config,
    }),
  };
}

function encodeTool({ name, description, parameters }: ChatTool): JsonObject {
  return present({ name, description, parametersJsonSchema: parameters });
}

const modes = { auto: 'AUTO', none: 'NONE', required: 'ANY' } as const;

function encodeChoice(choice: ChatRequest['toolChoice']): JsonValue {
  if (choice === null) return null;
  const config =
    typeof choice === 'string' ? { mode: modes[choice] } : { mode: 'ANY', allowedFunctionNames: [choice.name] };
  return { functionCallingConfig: config };
}
