/** What OpenAI's chat completions carry between protocols. */
import { type FeatureTable, fates } from '../../../engine/plugin.ts';

const { absent, both, dropped, kept, mapped, refused } = fates;

export const features: FeatureTable = {
  request: {
    'system-text': both,
    'system-later': both,
    turns: both,
    'image-data': { said: mapped('data URL'), written: mapped('data URL') },
    'image-url': both,
    'file-data': { said: mapped('data URL or plain Base64'), written: mapped('data URL') },
    'file-url': { said: absent, written: refused('has no place for a URL') },
    audio: { said: kept, written: mapped('WAV and MP3; other formats are refused') },
    'drawn-before': { said: mapped('data URLs in `images` or Markdown; a link is not fetched'), written: absent },
    tools: both,
    'custom-tools': {
      said: mapped('a function with one string `input`'),
      written: mapped('a function with one string `input`'),
    },
    'vendor-tools': { said: refused('`web_search_options`'), written: absent },
    'tool-names': {
      said: kept,
      written: mapped('up to 64 of `a-z A-Z 0-9 _ -`: others get an underscore and a hash, and come back as they were'),
    },
    'tool-calls': both,
    'tool-results': both,
    'tool-result-images': { said: absent, written: mapped('a user message behind the results') },
    'tool-result-errors': { said: absent, written: mapped('`Error: ` before the text') },
    'tool-choice': both,
    'parallel-off': both,
    reasoning: { said: kept, written: mapped('`max` becomes `xhigh`') },
    'reasoning-budget': { said: absent, written: mapped('`reasoning_effort`: up to 2048 low, up to 8192 medium') },
    'reasoning-signed': {
      said: mapped('`reasoning_details`, `extra_content.google` of a call'),
      written: mapped(
        'the same; what another protocol’s vendor signed is left out, and all thoughts for OpenAI’s models',
      ),
    },
    'structured-output': both,
    'json-output': both,
    'max-tokens': both,
    stop: { said: kept, written: mapped('4; at further ones the gateway ends the answer itself') },
    temperature: both,
    'top-p': both,
    'top-k': { said: kept, written: dropped('OpenAI refuses it') },
    seed: both,
    penalties: both,
    choices: both,
    logprobs: { said: refused('only a vendor of this protocol answers them'), written: absent },
    verbosity: both,
    user: both,
  },
  reply: {
    text: { read: kept, shown: kept },
    refusal: { read: kept, shown: kept },
    thoughts: { read: kept, shown: mapped('`reasoning_content`') },
    'thought-signatures': { read: mapped('`reasoning_details`'), shown: mapped('`reasoning_details`') },
    calls: { read: kept, shown: kept },
    'finish-reason': { read: kept, shown: kept },
    'stop-sequence': { read: absent, shown: dropped('no place for it') },
    'cached-tokens': { read: kept, shown: kept },
    'reasoning-tokens': { read: kept, shown: kept },
    'images-out': { read: mapped('`images`, data URLs'), shown: mapped('`images`, data URLs') },
    citations: { read: dropped('annotations have no neutral form'), shown: absent },
    'stream-errors': { read: kept, shown: kept },
  },
};
