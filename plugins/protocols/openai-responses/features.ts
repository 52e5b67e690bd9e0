/** What the Responses API carries between protocols. */
import type { FeatureTable } from '../../../engine/plugin.ts';

const kept = { fate: 'kept' } as const;
const both = { said: kept, written: kept };
const mapped = (how: string) => ({ fate: 'mapped', how }) as const;
const refused = (how: string) => ({ fate: 'refused', how }) as const;
const dropped = (how: string) => ({ fate: 'dropped', how }) as const;
const absent = { fate: 'absent' } as const;

export const features: FeatureTable = {
  request: {
    'system-text': { said: mapped('`instructions`, developer messages'), written: mapped('`instructions`') },
    'system-later': { said: kept, written: mapped('developer messages') },
    turns: {
      said: mapped('items; `previous_response_id` from what the gateway keeps'),
      written: mapped('items; nothing is stored at the vendor'),
    },
    'image-data': { said: mapped('data URL'), written: mapped('data URL') },
    'image-url': both,
    'file-data': { said: mapped('data URL or plain Base64'), written: mapped('data URL') },
    'file-url': both,
    audio: { said: absent, written: refused('has no place for sound') },
    'drawn-before': { said: mapped('the last `image_generation_call`'), written: absent },
    tools: both,
    'custom-tools': { said: mapped('a grammar becomes part of the description'), written: kept },
    'vendor-tools': { said: refused('`tools[].type`'), written: absent },
    'tool-names': {
      said: kept,
      written: mapped('up to 64 of `a-z A-Z 0-9 _ -`: others get an underscore and a hash, and come back as they were'),
    },
    'tool-calls': both,
    'tool-results': both,
    'tool-result-images': both,
    'tool-result-errors': { said: absent, written: mapped('`Error: ` before the text') },
    'tool-choice': { said: mapped('`allowed_tools` is refused'), written: kept },
    'parallel-off': both,
    reasoning: both,
    'reasoning-budget': { said: absent, written: mapped('`effort`: up to 2048 low, up to 8192 medium') },
    'reasoning-signed': {
      said: mapped('`encrypted_content`'),
      written: mapped('`encrypted_content`; what another protocol’s vendor signed is left out'),
    },
    'structured-output': both,
    'json-output': both,
    'max-tokens': { said: kept, written: mapped('at least 16') },
    stop: { said: absent, written: { fate: 'gateway', how: 'no such field: the gateway ends the answer' } },
    temperature: both,
    'top-p': both,
    'top-k': { said: absent, written: dropped('no such field') },
    seed: { said: absent, written: dropped('no such field') },
    penalties: { said: absent, written: refused('no such fields; 0 is dropped') },
    choices: { said: absent, written: refused('one answer only') },
    logprobs: { said: refused('`top_logprobs`, `include`'), written: absent },
    verbosity: both,
    user: { said: mapped('`user` or `safety_identifier`'), written: kept },
  },
  reply: {
    text: { read: kept, shown: kept },
    refusal: { read: kept, shown: kept },
    thoughts: { read: mapped('summaries of reasoning items'), shown: mapped('summaries of reasoning items') },
    'thought-signatures': { read: mapped('`encrypted_content`'), shown: mapped('`encrypted_content`') },
    calls: { read: kept, shown: kept },
    'finish-reason': {
      read: mapped('`status`, `incomplete_details`'),
      shown: mapped('`status`, `incomplete_details`'),
    },
    'stop-sequence': { read: absent, shown: dropped('no place for it') },
    'cached-tokens': { read: kept, shown: kept },
    'reasoning-tokens': { read: kept, shown: kept },
    'images-out': { read: mapped('`image_generation_call` items'), shown: mapped('`image_generation_call` items') },
    citations: { read: dropped('annotations have no neutral form'), shown: absent },
    'stream-errors': { read: kept, shown: mapped('`response.failed`, then `error`') },
  },
};
