import { wavSeconds } from '../../audio.ts';
import type { Call } from '../../contract.ts';
import type { Form } from '../../multipart.ts';
import { refuse } from './errors.ts';

const EXTENSIONS = ['flac', 'm4a', 'mp3', 'mp4', 'mpeg', 'mpga', 'oga', 'ogg', 'wav', 'webm'];
const LARGEST_FILE = 26_214_400;
const BYTES_PER_SECOND = 16_000;

/** The uploaded sound: its length by a WAV's header, else at 128 kbit/s. */
export interface AudioFile {
  readonly name: string;
  readonly bytes: number;
  readonly seconds: number;
}

/** The form of a call, or the refusal for anything else. */
export function audioForm(call: Call): Form {
  const type = call.headers['content-type'] ?? '';
  if (!type.startsWith('multipart/form-data'))
    refuse(415, {
      message: `Unsupported content type: '${type}'. This API method only accepts 'multipart/form-data' requests.`,
      code: 'unsupported_content_type',
    });
  if (call.body.kind === 'form') return call.body.form;
  return refuse(400, { message: 'Could not parse multipart form.', code: 'invalid_multipart' });
}

/** The one file of the form, refused where OpenAI refuses it: missing, empty, larger than 25 MiB, unknown extension. */
export function audioFile({ files }: Form): AudioFile {
  const stray = files.find(({ field }) => field !== 'file');
  if (stray)
    refuse(400, {
      message: `Unknown parameter: '${stray.field}'.`,
      param: stray.field,
      code: 'unknown_parameter',
    });
  const [file, second] = files;
  if (!file)
    return refuse(400, {
      message: "Missing required parameter: 'file'.",
      param: 'file',
      code: 'missing_required_parameter',
    });
  if (second) refuse(400, { message: "Duplicate parameter: 'file'.", param: 'file', code: 'duplicate_parameter' });
  const { filename: name, bytes } = file;
  if (bytes.length > LARGEST_FILE)
    refuse(413, { message: `Maximum content size limit (${LARGEST_FILE}) exceeded (${bytes.length} bytes read)` });
  if (!EXTENSIONS.includes(name.split('.').at(-1)!.toLowerCase()))
    refuse(400, {
      message: `Unrecognized file format. Supported formats: ['${EXTENSIONS.join("', '")}']`,
      param: 'file',
    });
  const seconds = wavSeconds(bytes) ?? bytes.length / BYTES_PER_SECOND;
  if (seconds === 0)
    refuse(400, {
      message: 'Audio file is too short. Minimum audio length is 0.1 seconds.',
      param: 'file',
      code: 'audio_too_short',
    });
  return { name, bytes: bytes.length, seconds };
}

/** How the text of a form is read: `lists` come as `name[]` or repeated, `objects` as JSON or `name[key]`. */
export interface FormKinds {
  readonly lists: readonly string[];
  readonly numbers: readonly string[];
  readonly flags: readonly string[];
  readonly objects: readonly string[];
}

/** The form's fields with the types a JSON body would have; what cannot be converted stays text, which the check refuses. */
export function formFields({ fields }: Form, kinds: FormKinds): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const [field, values] of Object.entries(fields)) {
    const [, name = field, key] = /^([^[\]]+)\[([^[\]]*)\]$/.exec(field) ?? [];
    if (kinds.lists.includes(name)) body[name] = [...((body[name] as string[] | undefined) ?? []), ...values];
    else if (key && kinds.objects.includes(name))
      body[name] = { ...(body[name] as object), [key]: readNumber(values[0]!) };
    else if (values.length > 1) refuseDuplicate(field);
    else body[field] = readText(field, values[0]!, kinds);
  }
  return body;
}

function readText(name: string, text: string, { numbers, flags, objects }: FormKinds): unknown {
  if (numbers.includes(name)) return readNumber(text);
  if (flags.includes(name) && (text === 'true' || text === 'false')) return text === 'true';
  return objects.includes(name) && text.startsWith('{') ? readObject(text) : text;
}

const readNumber = (text: string): unknown => (text !== '' && Number.isFinite(Number(text)) ? Number(text) : text);

function readObject(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}

function refuseDuplicate(param: string): never {
  const message = `Duplicate parameter: '${param}'. You provided multiple values for this parameter, whereas only one is allowed.`;
  return refuse(400, { message, param, code: 'duplicate_parameter' });
}
