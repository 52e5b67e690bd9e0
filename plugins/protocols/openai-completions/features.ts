/** What OpenAI's legacy text completions carry between protocols: one prompt, one text. */
import { type FeatureTable, fates } from '../../../engine/plugin.ts';

const { absent, both, kept, mapped } = fates;
const dropped = { fate: 'dropped', how: 'it is no text' } as const;
const refused = { fate: 'refused', how: 'a text prompt cannot say it' } as const;
const unsaid = { said: absent, written: refused };
const ignored = { said: absent, written: { fate: 'dropped', how: 'without meaning for a text' } as const };

export const features: FeatureTable = {
  request: {
    'system-text': { said: absent, written: mapped('`System:` paragraph') },
    'system-later': { said: absent, written: mapped('`System:` paragraph') },
    turns: { said: absent, written: mapped('paragraphs `User:`, `Assistant:`') },
    'image-data': unsaid,
    'image-url': unsaid,
    'file-data': unsaid,
    'file-url': unsaid,
    audio: unsaid,
    'drawn-before': { said: absent, written: absent },
    tools: unsaid,
    'custom-tools': unsaid,
    'vendor-tools': { said: absent, written: absent },
    'tool-names': unsaid,
    'tool-calls': unsaid,
    'tool-results': unsaid,
    'tool-result-images': unsaid,
    'tool-result-errors': unsaid,
    'tool-choice': { said: absent, written: { fate: 'refused', how: '`none` and `auto` pass' } },
    'parallel-off': ignored,
    reasoning: { said: absent, written: { fate: 'refused', how: '`none` passes' } },
    'reasoning-budget': ignored,
    'reasoning-signed': ignored,
    'structured-output': unsaid,
    'json-output': unsaid,
    'max-tokens': both,
    stop: { said: kept, written: mapped('4; at further ones the gateway ends the answer itself') },
    temperature: both,
    'top-p': both,
    'top-k': both,
    seed: both,
    penalties: both,
    choices: both,
    logprobs: { said: { fate: 'refused', how: 'only a vendor of this protocol answers them' }, written: absent },
    verbosity: ignored,
    user: both,
  },
  reply: {
    text: { read: kept, shown: kept },
    refusal: { read: absent, shown: mapped('text') },
    thoughts: { read: absent, shown: dropped },
    'thought-signatures': { read: absent, shown: dropped },
    calls: { read: absent, shown: dropped },
    'finish-reason': { read: kept, shown: mapped('`stop` for tool calls') },
    'stop-sequence': { read: absent, shown: { fate: 'dropped', how: 'no place for it' } },
    'cached-tokens': { read: kept, shown: kept },
    'reasoning-tokens': { read: kept, shown: kept },
    'images-out': { read: absent, shown: dropped },
    citations: { read: absent, shown: absent },
    'stream-errors': { read: kept, shown: kept },
  },
};
