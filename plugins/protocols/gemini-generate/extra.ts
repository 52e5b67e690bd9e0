/** Fields without a neutral place: only a vendor of this protocol gets them, and some may not get lost. */
import { isObject, type JsonObject, packExtra, takeExtra } from '../../../engine/plugin.ts';
import { protocolName } from './fields.ts';

const neutralFields: ReadonlySet<string> = new Set([
  'model',
  'contents',
  'systemInstruction',
  'tools',
  'toolConfig',
  'generationConfig',
]);

const neutralSettings: ReadonlySet<string> = new Set([
  'maxOutputTokens',
  'temperature',
  'topP',
  'topK',
  'candidateCount',
  'stopSequences',
  'seed',
  'presencePenalty',
  'frequencyPenalty',
  'thinkingConfig',
]);

const formatSettings = ['responseMimeType', 'responseSchema', 'responseJsonSchema'];

const without = (object: JsonObject, names: ReadonlySet<string>): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.has(name)));

/** `request` and `config` have their lowerCamelCase names. */
export function extraOf(request: JsonObject, config: JsonObject, vendorTools: readonly JsonObject[]): JsonObject {
  const { responseMimeType } = config;
  const isNeutral = responseMimeType === 'application/json' || responseMimeType === 'text/plain';
  const known = new Set([...neutralSettings, ...(isNeutral ? formatSettings : [])]);
  const settings = without(config, known);
  const fields: JsonObject = {
    ...without(request, neutralFields),
    ...(vendorTools.length > 0 ? { tools: [...vendorTools] } : {}),
    ...(Object.keys(settings).length > 0 ? { generationConfig: settings } : {}),
  };
  return packExtra(protocolName, fields, bindingIn(fields, settings));
}

/** What changes the answer; all else (safety settings, tiers, labels, resolution of media) can be done without. */
function bindingIn({ cachedContent, tools }: JsonObject, settings: JsonObject): string[] {
  const { responseMimeType, responseModalities, responseLogprobs } = settings;
  const others = Array.isArray(responseModalities) && responseModalities.some((one) => one !== 'TEXT');
  const binding: readonly (readonly [string, boolean])[] = [
    ['cachedContent', cachedContent !== undefined],
    ['tools', tools !== undefined],
    ['generationConfig.responseMimeType', responseMimeType !== undefined],
    ['generationConfig.responseModalities', others],
    ['generationConfig.responseLogprobs', responseLogprobs === true],
  ];
  return binding.filter(([, holds]) => holds).map(([name]) => name);
}

/** What a vendor gets: the entries of `tools`, settings, and whole fields. */
export function extraFor(extra: JsonObject) {
  const { tools, generationConfig, ...fields } = takeExtra(extra, protocolName);
  return {
    fields,
    tools: Array.isArray(tools) ? tools : [],
    settings: isObject(generationConfig) ? generationConfig : {},
  };
}
