/** A client's request in neutral form. Throws where a field has the wrong type or no neutral meaning. */
import type { ChatRequest, JsonObject } from '../../../engine/plugin.ts';
import { decodeConfig } from './decode-config.ts';
import { decodeContents, decodeSystem } from './decode-contents.ts';
import { decodeTools } from './decode-tools.ts';
import { extraOf } from './extra.ts';
import { optionalMessage, requestIn } from './fields.ts';

/** Model and stream stand in the path: the engine lays them over. */
export function decodeRequest(body: JsonObject): ChatRequest {
  const request = requestIn(body);
  const config = optionalMessage(request.generationConfig, 'generationConfig');
  const { tools, toolChoice, vendorTools } = decodeTools(request.tools, request.toolConfig);
  return {
    model: '',
    stream: false,
    messages: [...decodeSystem(request.systemInstruction), ...decodeContents(request.contents)],
    tools,
    toolChoice,
    parallelToolCalls: null,
    ...decodeConfig(config),
    verbosity: null,
    user: null,
    extra: extraOf(request, config, vendorTools),
  };
}
