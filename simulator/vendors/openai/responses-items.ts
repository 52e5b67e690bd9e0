import {
  type Check,
  checkAnything,
  checkByType,
  checkChoice,
  checkFields,
  checkList,
  checkObject,
  checkOpenObject,
  checkText,
  isRecord,
  wrongValue,
} from '../../checks.ts';
import { checkName } from './chat-request.ts';
import { checkImageUrl, checkPart, missing } from './messages.ts';

/** An item of the input or the output of a response. */
export type Item = { readonly [name: string]: unknown } & { readonly type: string };

const MOST_ITEMS = 4096;
const LONGEST_CALL_ID = 64;
const CALL_ID = checkText(LONGEST_CALL_ID);
const STATUS = checkChoice('in_progress', 'completed', 'incomplete');

function checkId(prefix: string): Check {
  return (value, path) => {
    const problem = checkText(LONGEST_CALL_ID)(value, path);
    if (problem || (value as string).startsWith(prefix)) return problem;
    const message = `Invalid '${path}': '${value}'. Expected an ID that begins with '${prefix}'.`;
    return { param: path, code: 'invalid_value', message };
  };
}

const tagged = (fields: Record<string, Check>, required: readonly string[]): Check =>
  checkObject({ type: checkAnything, ...fields }, required);

const INPUT_PARTS: Record<string, Check> = {
  input_text: tagged({ text: checkText() }, ['text']),
  input_image: tagged(
    { image_url: checkImageUrl, file_id: checkText(), detail: checkChoice('low', 'high', 'auto', 'original') },
    [],
  ),
  input_file: tagged(
    { file_id: checkText(), file_data: checkText(), filename: checkText(), file_url: checkText() },
    [],
  ),
};
const OUTPUT_PARTS: Record<string, Check> = {
  output_text: tagged(
    { text: checkText(), annotations: checkList(checkOpenObject, 0, MOST_ITEMS), logprobs: checkAnything },
    ['text'],
  ),
  refusal: tagged({ refusal: checkText() }, ['refusal']),
};

const contentOf = (parts: Record<string, Check>): Check =>
  checkByType({ string: checkText(), array: checkList(checkPart(parts), 0, MOST_ITEMS) });

const MESSAGE = { type: checkAnything, id: checkId('msg'), role: checkAnything, status: STATUS, phase: checkText() };
const INPUT_MESSAGE = { ...MESSAGE, content: contentOf(INPUT_PARTS) };
const ROLES: Record<string, Record<string, Check>> = {
  user: INPUT_MESSAGE,
  system: INPUT_MESSAGE,
  developer: INPUT_MESSAGE,
  assistant: { ...MESSAGE, phase: checkChoice('commentary', 'final_answer'), content: contentOf(OUTPUT_PARTS) },
};

const checkMessage: Check = (value, path) => {
  const message = value as Record<string, unknown>;
  if (typeof message.role !== 'string') return missing(`${path}.role`);
  const fields = Object.hasOwn(ROLES, message.role) ? ROLES[message.role] : undefined;
  return fields
    ? checkFields(message, fields, ['content'], path)
    : wrongValue(`${path}.role`, message.role, Object.keys(ROLES));
};

const OUTPUT = contentOf(INPUT_PARTS);
const SUMMARY = checkPart({ summary_text: tagged({ text: checkText() }, ['text']) });
const THOUGHT = checkPart({ reasoning_text: tagged({ text: checkText() }, ['text']) });

/** Items of hosted tools, which this simulator never makes and takes as they are. */
const HOSTED_ITEMS = [
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'computer_call',
  'computer_call_output',
  'local_shell_call',
  'local_shell_call_output',
  'shell_call',
  'shell_call_output',
  'apply_patch_call',
  'apply_patch_call_output',
  'mcp_call',
  'mcp_list_tools',
  'mcp_approval_request',
  'mcp_approval_response',
  'tool_search_call',
  'tool_search_output',
];

const KINDS: Record<string, Check> = {
  message: checkMessage,
  function_call: tagged(
    {
      id: checkId('fc'),
      call_id: CALL_ID,
      name: checkName,
      arguments: checkText(),
      status: STATUS,
      namespace: checkText(),
    },
    ['call_id', 'name', 'arguments'],
  ),
  function_call_output: tagged({ id: checkId('fc'), call_id: CALL_ID, output: OUTPUT, status: STATUS }, [
    'call_id',
    'output',
  ]),
  custom_tool_call: tagged(
    {
      id: checkId('ctc'),
      call_id: CALL_ID,
      name: checkName,
      input: checkText(),
      status: STATUS,
      namespace: checkText(),
    },
    ['call_id', 'name', 'input'],
  ),
  custom_tool_call_output: tagged({ id: checkId('ctc'), call_id: CALL_ID, output: OUTPUT, status: STATUS }, [
    'call_id',
    'output',
  ]),
  reasoning: tagged(
    {
      id: checkId('rs'),
      summary: checkList(SUMMARY, 0, MOST_ITEMS),
      content: checkList(THOUGHT, 0, MOST_ITEMS),
      encrypted_content: checkText(),
      status: STATUS,
    },
    ['summary'],
  ),
  compaction: tagged({ id: checkId('cmp'), encrypted_content: checkText() }, ['encrypted_content']),
  item_reference: tagged({ id: checkText() }, ['id']),
  image_generation_call: tagged(
    {
      id: checkId('ig'),
      status: checkChoice('in_progress', 'completed', 'generating', 'failed'),
      result: checkText(),
      action: checkText(),
      background: checkText(),
      output_format: checkText(),
      quality: checkText(),
      size: checkText(),
      revised_prompt: checkText(),
    },
    ['id'],
  ),
  ...Object.fromEntries(HOSTED_ITEMS.map((name) => [name, checkOpenObject])),
};

const checkKind = checkPart(KINDS);

/** A message may leave its type out. */
const checkItem: Check = (value, path) =>
  isRecord(value) && value.type == null && value.role != null ? checkMessage(value, path) : checkKind(value, path);

/** Text for one user message, or items of every kind. */
export const checkInput: Check = checkByType({ string: checkText(), array: checkList(checkItem, 1, MOST_ITEMS) });

/** Checked input as items: every message with its type and its content as parts, null fields left out. */
export function itemsOf(input: unknown): Item[] {
  if (input === undefined || input === null) return [];
  const entries = typeof input === 'string' ? [{ role: 'user', content: input }] : (input as Record<string, unknown>[]);
  return entries.map(wholeItem);
}

function wholeItem(entry: Record<string, unknown>): Item {
  const present = Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== null));
  const item: Item = { ...present, type: (present.type as string | undefined) ?? 'message' };
  if (item.type !== 'message' || typeof item.content !== 'string') return item;
  const text = item.content;
  const part =
    item.role === 'assistant' ? { type: 'output_text', text, annotations: [] } : { type: 'input_text', text };
  return { ...item, content: [part] };
}

export const isOutput = ({ type }: Item): boolean =>
  type === 'function_call_output' || type === 'custom_tool_call_output';

export const isCall = ({ type }: Item): boolean => type === 'function_call' || type === 'custom_tool_call';

export const isUser = ({ type, role }: Item): boolean => type === 'message' && role === 'user';

/** Text of a message's or a tool output's parts, refusals included. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  const texts = content.map((part: { text?: string; refusal?: string }) => part.text ?? part.refusal ?? '');
  return texts.filter((text) => text !== '').join('\n');
}
