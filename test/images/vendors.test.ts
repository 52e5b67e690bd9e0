import { expect, it } from 'vitest';
import type { JsonValue, Protocol, VendorDefinition, VendorError } from '../../engine/plugin.ts';
import { vendorFailure } from '../../engine/upstream/failure.ts';
import { builtIns } from '../../plugins/index.ts';
import geminiImages from '../../plugins/protocols/gemini-images.ts';
import openaiImages from '../../plugins/protocols/openai-images.ts';
import xaiImages from '../../plugins/protocols/xai-images.ts';
import gemini from '../../plugins/vendors/gemini.ts';
import openai from '../../plugins/vendors/openai.ts';
import xai from '../../plugins/vendors/xai.ts';

type Decode = (body: JsonValue) => VendorError | null;
const reasonOf = (vendor: VendorDefinition, decode: Decode, status: number, body: JsonValue) =>
  vendorFailure(vendor, status, decode(body), null).reason;

const fromOpenai = (message: string, code: string | null = null, type = 'invalid_request_error') => ({
  error: { message, code, type, param: null },
});
it.each<[string, number, JsonValue, string]>([
  ['a refusal', 400, fromOpenai('Your request was rejected by the safety system.', 'moderation_blocked'), 'moderation'],
  ['an older refusal', 400, fromOpenai('Rejected.', 'content_policy_violation'), 'moderation'],
  ['a wrong key', 401, fromOpenai('Incorrect API key provided: sk-ab***yz.', 'invalid_api_key'), 'credential'],
  ['a wrong key as 400', 400, fromOpenai('Incorrect API key provided: sk-ab***yz.'), 'credential'],
  [
    'no credit',
    429,
    fromOpenai('You exceeded your current quota.', 'insufficient_quota', 'insufficient_quota'),
    'credential',
  ],
  ['a spend limit', 400, fromOpenai('Billing hard limit has been reached', 'billing_hard_limit_reached'), 'credential'],
  ['an unverified organization', 403, fromOpenai('Your organization must be verified to use the model.'), 'credential'],
  ['a rate limit', 429, fromOpenai('Rate limit reached', 'rate_limit_exceeded', 'requests'), 'status'],
  ['a wrong size', 400, fromOpenai('Invalid size', 'invalid_value'), 'status'],
  ['an outage', 500, fromOpenai('The server had an error', null, 'server_error'), 'status'],
])('openai: %s (%i)', (_, status, body, reason) => {
  expect(reasonOf(openai, openaiImages.vendor!.decodeError, status, body)).toBe(reason);
});

const fromGoogle = (code: number, status: string, message: string, reason?: string) => ({
  error: {
    code,
    message,
    status,
    details: reason ? [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason }] : [],
  },
});
it.each<[string, number, JsonValue, string]>([
  ['a wrong key as 400', 400, fromGoogle(400, 'INVALID_ARGUMENT', 'Wrong.', 'API_KEY_INVALID'), 'credential'],
  [
    'a wrong key told by its text',
    400,
    fromGoogle(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.'),
    'credential',
  ],
  [
    'a place that is not served',
    400,
    fromGoogle(400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.'),
    'credential',
  ],
  [
    'a key without the right',
    403,
    fromGoogle(403, 'PERMISSION_DENIED', 'Your API key was reported as leaked.'),
    'credential',
  ],
  ['a wrong field', 400, fromGoogle(400, 'INVALID_ARGUMENT', 'Invalid value at safety_settings[0]'), 'status'],
  ['a rate limit', 429, fromGoogle(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota.'), 'status'],
  ['spent credits', 429, fromGoogle(429, 'RESOURCE_EXHAUSTED', 'Your prepayment credits are depleted.'), 'credential'],
  ['overload', 503, fromGoogle(503, 'UNAVAILABLE', 'The model is overloaded.'), 'status'],
])('gemini: %s (%i)', (_, status, body, reason) => {
  expect(reasonOf(gemini, geminiImages.vendor!.decodeError, status, body)).toBe(reason);
});

const argument = 'Client specified an invalid argument';
const forbidden = 'The caller does not have permission to execute the specified operation';
const exhausted = 'Some resource has been exhausted';
it.each<[string, number, JsonValue, string]>([
  ['a refusal', 400, { code: 'imagine:content-moderated', error: 'No.' }, 'moderation'],
  ['an older refusal', 400, { code: argument, error: 'Generated image rejected by content moderation.' }, 'moderation'],
  ['a refusal as 403', 403, { code: forbidden, error: 'Content violates usage guidelines.' }, 'moderation'],
  ['a wrong key as 400', 400, { code: argument, error: 'Incorrect API key provided: xa***yz.' }, 'credential'],
  ['a blocked key', 403, { code: forbidden, error: 'Your API key is currently blocked.' }, 'credential'],
  [
    '4.3 a right the account lacks',
    403,
    { code: forbidden, error: 'Your team does not have permission to perform this action.' },
    'status',
  ],
  [
    'spent credits',
    429,
    { code: exhausted, error: 'Your team has used all available credits or reached its monthly spending limit.' },
    'credential',
  ],
  ['a rate limit', 429, { code: exhausted, error: 'Too many requests for team.' }, 'status'],
  ['a wrong field', 422, { error: 'prompt must not be empty' }, 'status'],
])('xai: %s (%i)', (_, status, body, reason) => {
  expect(reasonOf(xai, xaiImages.vendor!.decodeError, status, body)).toBe(reason);
});

/** What a vendor must say of each kind of protocol it speaks. */
const needed: Readonly<Record<Protocol['kind'], readonly string[]>> = {
  chat: ['whole', 'stream'],
  image: ['generate', 'edit'],
  direct: ['call'],
  video: ['create', 'poll'],
  realtime: ['connect'],
};

it.each(builtIns.vendors)('$name sends its credential in a header and names a path for each action', (vendor) => {
  expect(vendor.auth.value).toContain('{credential}');
  expect(new URL(vendor.baseUrl).protocol).toBe('https:');
  for (const [protocol, paths] of Object.entries(vendor.speaks)) {
    const { kind } = builtIns.protocols.find(({ name }) => name === protocol)!;
    expect(Object.keys(paths)).toEqual(expect.arrayContaining([...needed[kind]]));
    for (const path of Object.values(paths)) expect(path).toMatch(/^\//);
  }
});
