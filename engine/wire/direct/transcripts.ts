/** What transcriptions and translations of OpenAI's form have in common: a sound file in, text in one of its formats out. */
import type {
  Counts,
  DirectCall,
  DirectProtocol,
  DirectReply,
  UploadedFile,
  UploadedForm,
} from '../../contract/direct.ts';
import type { Operation } from '../../contract/operations.ts';
import type { JsonObject, JsonValue } from '../../contract/values.ts';
import { GatewayError } from '../../errors.ts';
import { requiredString } from '../openai/call.ts';
import { isObject, unsupported } from '../openai/fields.ts';
import { openAiError } from '../openai/reply.ts';
import { isEventStream } from '../sse.ts';
import { counted, countedSeconds, estimatedUsage, textTokens } from './counts.ts';
import { readPlainError } from './errors.ts';
import { audioTap } from './event-tap.ts';
import { longestSeconds, soundSeconds } from './sound-length.ts';

/** Whatever else a client asks for is text: vendors have formats of their own. */
const jsonFormats = ['json', 'verbose_json', 'diarized_json'];
/** What listening and speech come to, about. */
const heardTokensPerSecond = 10;
const saidTokensPerSecond = 4;
/** Characters of a second, of who speaks fast. */
const fastest = 25;

/** A vendor would hear what these name instead of what the gateway counts, files of its account among it. */
const otherSources = ['url', 'file_url', 'file_id'];

const invalid = (message: string, param: string): GatewayError => new GatewayError('invalid_value', message, { param });

/** The one part `file`. */
function fileOf({ parts }: UploadedForm): UploadedFile {
  const found = parts.filter((part) => part.name === 'file');
  const [file] = found;
  if (file === undefined)
    throw new GatewayError('missing_required_parameter', '`file` is required.', { param: 'file' });
  if (found.length > 1) throw invalid('`file` was sent more than once.', 'file');
  if (file.kind === 'field') throw invalid('`file` must be a file with a name, not a text field.', 'file');
  if (file.length === 0) throw invalid('`file` is empty.', 'file');
  return file;
}

/** A form may say a field twice, or as a file; the vendor must not read another one than the gateway. */
function requireOne({ parts }: UploadedForm, name: string): void {
  if (parts.some((part) => part.kind === 'file' && part.name === name))
    throw invalid(`\`${name}\` must be a text field, not a file.`, name);
  const values = new Set(parts.flatMap((part) => (part.kind === 'field' && part.name === name ? [part.value] : [])));
  if (values.size > 1)
    throw new GatewayError('conflicting_parameters', `\`${name}\` was sent with different values.`, { param: name });
}

function readCall(operation: Operation, body: JsonObject, form: UploadedForm): DirectCall {
  const model = requiredString(body, 'model');
  for (const name of ['model', 'stream', 'response_format']) requireOne(form, name);
  for (const name of otherSources)
    if (body[name]) throw unsupported(name, 'is not supported: send the sound itself as `file`.');
  const seconds = soundSeconds(fileOf(form));
  const heard = Math.ceil(seconds * heardTokensPerSecond);
  const prompt = typeof body.prompt === 'string' ? textTokens(body.prompt) : 0;
  const output = Math.ceil(seconds * saidTokensPerSecond);
  const bound = estimatedUsage({ seconds, input: prompt + heard, audioInput: heard, output });
  const stream = String(body.stream ?? '').toLowerCase() === 'true';
  return { kind: 'direct', operation, model, stream, bound, known: {}, body, form };
}

/** Tokens or seconds, whichever this model is counted by. */
function readCounts({ usage, duration }: JsonObject): Counts {
  if (!isObject(usage)) return countedSeconds(duration);
  const input = counted('input', usage.input_tokens);
  const details = isObject(usage.input_token_details) ? usage.input_token_details : {};
  const seconds = { ...countedSeconds(duration), ...countedSeconds(usage.seconds) };
  if (input.input === undefined) return seconds;
  const heard = counted('audioInput', details.audio_tokens).audioInput ?? 0;
  // Silence is heard and gives no text.
  return {
    ...seconds,
    output: 0,
    ...counted('output', usage.output_tokens),
    ...input,
    audioInput: Math.min(heard, input.input),
  };
}

const cue = /-->\s*(?:(\d+):)?(\d\d):(\d\d)[.,](\d{3})/g;

/** Where the last caption ends. */
function captionSeconds(text: string): Counts {
  let end = 0;
  for (const [, hours = '0', minutes, seconds, thousandths] of text.matchAll(cue)) {
    const at = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds) + Number(thousandths) / 1000;
    end = Math.max(end, at);
  }
  return countedSeconds(end);
}

/** Where the vendor counts nothing: so many words need their time, however small the file was made. */
function spoken(text: string, { bound, form }: DirectCall): Counts {
  const needed = Math.min(text.length / fastest, longestSeconds(fileOf(form!)));
  return { output: textTokens(text), seconds: Math.max(bound.seconds, needed) };
}

const isJson = (contentType: string): boolean => /^application\/(?:[\w.+-]+\+)?json\b/i.test(contentType);
const isTextFormat = ({ body }: DirectCall): boolean => !jsonFormats.includes(String(body.response_format ?? 'json'));

function readReply(body: Buffer, call: DirectCall, contentType: string): DirectReply {
  if (isTextFormat(call) && !isJson(contentType)) {
    const text = body.toString('utf8');
    const estimated = { ...spoken(text, call), ...captionSeconds(text) };
    return { body, contentType: contentType || 'text/plain; charset=utf-8', counts: {}, estimated, error: null };
  }
  const value = JSON.parse(body.toString('utf8')) as JsonValue;
  const type = isJson(contentType) ? contentType : 'application/json';
  if (!isObject(value) || typeof value.text !== 'string') {
    const error = readPlainError(value);
    if (error === null) throw new Error('the answer holds no text');
    return { body, counts: {}, error };
  }
  return { body, contentType: type, counts: readCounts(value), estimated: spoken(value.text, call), error: null };
}

/** The protocol of one of the two operations. */
export function transcriptProtocol(name: string, summary: string, operation: Operation): DirectProtocol {
  return {
    kind: 'direct',
    name,
    summary,
    operation,
    client: {
      accepts: 'form',
      readCall: (body, form) => readCall(operation, body, form!),
      encodeError: openAiError,
    },
    relay: {
      shape(_call, contentType) {
        // Not every model streams, and vendors know more words for `true` than one: what came says what it is.
        if (isEventStream(contentType)) return 'events';
        return /^text\/html\b/i.test(contentType) ? null : 'whole';
      },
      reply: readReply,
      events: (call) =>
        audioTap({
          last: 'transcript.text.done',
          readCounts,
          estimate: (event) => (typeof event?.text === 'string' ? spoken(event.text, call) : {}),
        }),
      decodeError: readPlainError,
    },
  };
}
