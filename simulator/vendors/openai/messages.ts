import {
  type Check,
  checkAnything,
  checkByType,
  checkChoice,
  checkFields,
  checkInteger,
  checkList,
  checkObject,
  checkOpenObject,
  checkText,
  isRecord,
  type Problem,
  wrongValue,
} from '../../checks.ts';

const IMAGE_TOKENS = 85;

/** One part of a message's content: its fields by its type. */
export function checkPart(allowed: Record<string, Check>): Check {
  return (value, path) => {
    if (!isRecord(value)) return checkOpenObject(value, path);
    const type = value.type;
    if (typeof type !== 'string') return missing(`${path}.type`);
    const check = Object.hasOwn(allowed, type) ? allowed[type] : undefined;
    return check ? check(value, path) : wrongValue(`${path}.type`, type, Object.keys(allowed));
  };
}

const tagged = (fields: Record<string, Check>, required: string[]): Check =>
  checkObject({ type: checkAnything, prompt_cache_breakpoint: checkOpenObject, ...fields }, required);

const TEXT_PART = tagged({ text: checkText() }, ['text']);
const IMAGE_URL = checkObject({ url: checkImageUrl, detail: checkChoice('auto', 'low', 'high', 'original') }, ['url']);
const AUDIO = checkObject({ data: checkText(), format: checkChoice('wav', 'mp3') }, ['data', 'format']);
const FILE = checkObject({ file_id: checkText(), filename: checkText(), file_data: checkText() });

export function checkImageUrl(value: unknown, path: string): Problem | undefined {
  const problem = checkText()(value, path);
  if (problem || /^(https?:\/\/|data:image\/[a-z]+;base64,)/.test(value as string)) return problem;
  return {
    param: path,
    code: 'invalid_image_url',
    message: `Invalid image URL: '${path}'. Expected a valid URL or data URL.`,
  };
}

const partsOf = (allowed: Record<string, Check>): Check =>
  checkByType({ string: checkText(), array: checkList(checkPart(allowed), 1, 2048) });

const TEXT_CONTENT = partsOf({ text: TEXT_PART });
const USER_CONTENT = partsOf({
  text: TEXT_PART,
  image_url: tagged({ image_url: IMAGE_URL }, ['image_url']),
  input_audio: tagged({ input_audio: AUDIO }, ['input_audio']),
  file: tagged({ file: FILE }, ['file']),
});
const ASSISTANT_CONTENT = partsOf({ text: TEXT_PART, refusal: tagged({ refusal: checkText() }, ['refusal']) });

const TOOL_CALL = checkPart({
  function: checkObject(
    {
      id: checkText(),
      type: checkAnything,
      index: checkInteger(0, 128),
      function: checkObject({ name: checkText(64), arguments: checkText() }, ['name', 'arguments']),
    },
    ['id', 'function'],
  ),
  custom: checkObject(
    {
      id: checkText(),
      type: checkAnything,
      custom: checkObject({ name: checkText(64), input: checkText() }, ['name', 'input']),
    },
    ['id', 'custom'],
  ),
});

const NAMED = { role: checkAnything, name: checkText() };
const SYSTEM = checkObject({ ...NAMED, content: TEXT_CONTENT }, ['content']);
const ROLES: Record<string, Check> = {
  developer: SYSTEM,
  system: SYSTEM,
  user: checkObject({ ...NAMED, content: USER_CONTENT }, ['content']),
  assistant: checkAssistant,
  tool: checkObject({ role: checkAnything, tool_call_id: checkText(), content: TEXT_CONTENT }, [
    'content',
    'tool_call_id',
  ]),
  function: checkObject({ ...NAMED, content: checkText() }, ['name', 'content']),
};

const ASSISTANT_FIELDS = {
  ...NAMED,
  content: ASSISTANT_CONTENT,
  refusal: checkText(),
  annotations: checkAnything,
  audio: checkObject({ id: checkText() }, ['id']),
  tool_calls: checkList(TOOL_CALL, 1, 128),
  function_call: checkObject({ name: checkText(64), arguments: checkText() }, ['name', 'arguments']),
};

function checkAssistant(value: unknown, path: string): Problem | undefined {
  const message = value as Record<string, unknown>;
  const empty = ['content', 'tool_calls', 'function_call', 'refusal', 'audio'].every((name) => message[name] == null);
  if (empty)
    return {
      param: `${path}.content`,
      code: null,
      message: `Invalid value for 'content': expected a string, got null.`,
    };
  return checkFields(message, ASSISTANT_FIELDS, [], path);
}

function checkMessage(value: unknown, path: string): Problem | undefined {
  if (!isRecord(value)) return checkOpenObject(value, path);
  if (typeof value.role !== 'string') return missing(`${path}.role`);
  const check = Object.hasOwn(ROLES, value.role) ? ROLES[value.role] : undefined;
  return check ? check(value, path) : wrongValue(`${path}.role`, value.role, Object.keys(ROLES));
}

/** Every message by its role, then that tool messages answer the calls before them, all and only those. */
export const checkMessages: Check = (value, path) =>
  checkList(checkMessage, 1, 4096)(value, path) ?? checkToolTurns(value as Message[], path);

interface Message {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: { id: string }[] | null;
  readonly tool_call_id?: string;
}

function checkToolTurns(messages: readonly Message[], path: string): Problem | undefined {
  let open = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (!open.delete(message.tool_call_id!)) return stray(`${path}[${index}].role`);
      continue;
    }
    if (open.size > 0) return unanswered(open, `${path}[${index}].role`);
    open = new Set((message.tool_calls ?? []).map(({ id }) => id));
  }
  return open.size > 0 ? unanswered(open, path) : undefined;
}

function stray(param: string): Problem {
  const message = "messages with role 'tool' must be a response to a preceding message with 'tool_calls'.";
  return { param, code: null, message: `Invalid parameter: ${message}` };
}

function unanswered(open: ReadonlySet<string>, param: string): Problem {
  const rule =
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.";
  const message = `${rule} The following tool_call_ids did not have response messages: ${[...open].join(', ')}`;
  return { param, code: null, message };
}

export function missing(param: string): Problem {
  return { param, code: 'missing_required_parameter', message: `Missing required parameter: '${param}'.` };
}

/** The text of the last user message, which the answer echoes and which may steer it. */
export function lastUserText(messages: readonly Message[]): string {
  const last = messages.findLast(({ role }) => role === 'user');
  return last ? textOf(last.content) : '';
}

export const endsWithToolResult = (messages: readonly Message[]): boolean => messages.at(-1)?.role === 'tool';

/** All text of all messages and the count of images, for the prompt's tokens. */
export function measureMessages(messages: readonly Message[]): { texts: string[]; imageTokens: number } {
  const images = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  const count = images.filter((part: { type?: unknown }) => part.type === 'image_url').length;
  return { texts: messages.map(({ content }) => textOf(content)), imageTokens: count * IMAGE_TOKENS };
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: { text?: unknown }) => (typeof part.text === 'string' ? part.text : '')).join('\n');
}
