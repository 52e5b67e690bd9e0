/** What messages carry between protocols. */
import { type FeatureTable, fates } from '../../../engine/plugin.ts';

const { absent, both, dropped, kept, mapped, refused } = fates;

export const features: FeatureTable = {
  request: {
    'system-text': { said: mapped('its blocks become one text'), written: kept },
    'system-later': { said: kept, written: mapped('text of the user’s: older models know no other place') },
    turns: { said: kept, written: mapped('neighbours of one role become one turn; the assistant cannot begin') },
    'image-data': { said: kept, written: mapped('JPEG, PNG, GIF and WebP; other formats are refused') },
    'image-url': both,
    'file-data': {
      said: mapped('PDF as a file, plain text as text; `file_id` is refused'),
      written: mapped('PDF and text as documents; other types are refused'),
    },
    'file-url': both,
    audio: { said: absent, written: refused('these models do not hear') },
    'drawn-before': { said: absent, written: absent },
    tools: both,
    'custom-tools': { said: absent, written: mapped('a tool with one string `input`') },
    'vendor-tools': { said: refused('tools with a `type` of their own, `mcp_servers`, `container`'), written: absent },
    'tool-names': {
      said: kept,
      written: mapped(
        'up to 128 of `a-z A-Z 0-9 _ -`: others get an underscore and a hash, and come back as they were',
      ),
    },
    'tool-calls': { said: kept, written: mapped('ids are made valid and unique') },
    'tool-results': { said: kept, written: mapped('first in the user’s next turn') },
    'tool-result-images': both,
    'tool-result-errors': both,
    'tool-choice': both,
    'parallel-off': both,
    reasoning: {
      said: mapped('`output_config.effort`'),
      written: mapped('`output_config.effort`; models before 4.6 get a budget'),
    },
    'reasoning-budget': { said: kept, written: mapped('models since 4.6 get an effort') },
    'reasoning-signed': { said: kept, written: mapped('this vendor’s own come back; all others are left out') },
    'structured-output': {
      said: mapped('binds elsewhere only where every member is required'),
      written: mapped('every object is closed'),
    },
    'json-output': { said: absent, written: mapped('an instruction in the system text') },
    'max-tokens': {
      said: kept,
      written: mapped('where the client has none: the model’s `maxOutputTokens`, else 4096'),
    },
    stop: { said: kept, written: mapped('at sequences of blanks alone the gateway ends the answer itself') },
    temperature: { said: kept, written: mapped('at most 1; left out where the model thinks') },
    'top-p': { said: kept, written: mapped('left out beside a temperature other than 1') },
    'top-k': both,
    seed: { said: absent, written: dropped('no place for it') },
    penalties: { said: absent, written: dropped('no place for them') },
    choices: { said: absent, written: refused('one answer only') },
    logprobs: { said: absent, written: absent },
    verbosity: { said: absent, written: dropped('no place for it') },
    user: { said: mapped('`metadata.user_id`'), written: mapped('`metadata.user_id`') },
  },
  reply: {
    text: { read: kept, shown: kept },
    refusal: { read: mapped('`stop_details.explanation`'), shown: mapped('text, and `stop_details.explanation`') },
    thoughts: { read: kept, shown: kept },
    'thought-signatures': {
      read: kept,
      shown: mapped('another vendor’s with its name; a call’s in a thought before it'),
    },
    calls: { read: kept, shown: mapped('interleaved calls come one after another') },
    'finish-reason': { read: kept, shown: kept },
    'stop-sequence': { read: kept, shown: kept },
    'cached-tokens': { read: kept, shown: kept },
    'reasoning-tokens': { read: kept, shown: kept },
    'images-out': { read: absent, shown: dropped('a message holds no picture of the assistant’s') },
    citations: { read: dropped('no neutral form'), shown: absent },
    'stream-errors': { read: kept, shown: kept },
  },
};
