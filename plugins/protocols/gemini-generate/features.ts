/** What Gemini's generateContent carries between protocols. */
import { type FeatureTable, fates } from '../../../engine/plugin.ts';

const { absent, both, dropped, kept, mapped, refused } = fates;

export const features: FeatureTable = {
  request: {
    'system-text': both,
    'system-later': { said: absent, written: mapped('moved to `systemInstruction`, before the first turn') },
    turns: { said: kept, written: mapped('neighbours of one role become one content') },
    'image-data': both,
    'image-url': { said: mapped('`fileData`'), written: mapped('`fileData`: Google fetches public files') },
    'file-data': both,
    'file-url': {
      said: mapped('`fileData`'),
      written: mapped('`fileData`; ids of another vendor’s files are refused'),
    },
    audio: both,
    'drawn-before': { said: mapped('`inlineData` of the last model turn'), written: absent },
    tools: { said: mapped('`parameters` become JSON Schema'), written: mapped('`parametersJsonSchema`') },
    'custom-tools': { said: absent, written: mapped('a function with one string `input`') },
    'vendor-tools': { said: refused('only a vendor of this protocol has them'), written: absent },
    'tool-names': {
      said: kept,
      written: mapped(
        'up to 64 of `a-z A-Z 0-9 _ . : -`, a letter or `_` first: others get an underscore and a hash, and come back as they were',
      ),
    },
    'tool-calls': { said: mapped('calls without an id get one'), written: kept },
    'tool-results': {
      said: mapped('one without an id answers the next call of its name'),
      written: mapped('an object as it is, any other text as `result`'),
    },
    'tool-result-images': {
      said: mapped('`functionResponse.parts`'),
      written: mapped('`functionResponse.parts`; behind the results for models before Gemini 3'),
    },
    'tool-result-errors': { said: mapped('`{"error": …}`'), written: mapped('`{"error": …}`') },
    'tool-choice': { said: mapped('several allowed functions become the only tools'), written: kept },
    'parallel-off': { said: absent, written: dropped('no word for it') },
    reasoning: {
      said: kept,
      written: mapped('`thinkingLevel` from Gemini 3 on, `thinkingBudget` before'),
    },
    'reasoning-budget': { said: kept, written: mapped('at most 24576 tokens') },
    'reasoning-signed': {
      said: kept,
      written: mapped('other protocols’ thoughts are left out; a call nobody signed says so'),
    },
    'structured-output': {
      said: mapped('`responseSchema` becomes JSON Schema'),
      written: mapped('`responseJsonSchema`'),
    },
    'json-output': both,
    'max-tokens': both,
    stop: { said: kept, written: mapped('5; at further ones the gateway ends the answer itself') },
    temperature: both,
    'top-p': both,
    'top-k': both,
    seed: { said: kept, written: mapped('cut to 32 bits') },
    penalties: both,
    choices: both,
    logprobs: { said: refused('only a vendor of this protocol answers them'), written: absent },
    verbosity: { said: absent, written: dropped('no word for it') },
    user: { said: absent, written: dropped('no word for it') },
  },
  reply: {
    text: { read: kept, shown: kept },
    refusal: { read: mapped('a blocked prompt'), shown: mapped('text') },
    thoughts: { read: kept, shown: kept },
    'thought-signatures': { read: kept, shown: mapped('those of other vendors in Base64') },
    calls: { read: kept, shown: mapped('each whole, when the answer ends') },
    'finish-reason': { read: kept, shown: kept },
    'stop-sequence': { read: absent, shown: dropped('no word for it') },
    'cached-tokens': { read: kept, shown: kept },
    'reasoning-tokens': { read: kept, shown: kept },
    'images-out': { read: kept, shown: kept },
    citations: { read: dropped('grounding has no neutral form'), shown: absent },
    'stream-errors': { read: kept, shown: kept },
  },
};
