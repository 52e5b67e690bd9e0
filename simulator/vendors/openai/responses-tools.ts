import {
  type Check,
  checkAnything,
  checkByType,
  checkChoice,
  checkFlag,
  checkInteger,
  checkList,
  checkObject,
  checkOpenObject,
  checkText,
  type Problem,
} from '../../checks.ts';
import { checkName } from './chat-request.ts';
import { checkPart } from './messages.ts';
import { checkSchema } from './responses-schema.ts';

export interface Tool {
  readonly type: string;
  readonly name?: string;
  readonly parameters?: unknown;
  readonly strict?: boolean | null;
}

/** The settings of an `image_generation` tool. */
export interface ImageTool extends Tool {
  readonly size?: string;
  readonly quality?: string;
  readonly background?: string;
  readonly output_format?: 'png' | 'jpeg' | 'webp';
  readonly partial_images?: number;
  readonly action?: string;
}

export type ToolChoice =
  | string
  | { readonly type: string; readonly name?: string; readonly mode?: string; readonly tools?: readonly Tool[] };

const MOST_TOOLS = 128;

const checkImageSize: Check = (value, path) => {
  const problem = checkText()(value, path);
  if (problem || /^(auto|[1-9]\d{2,3}x[1-9]\d{2,3})$/.test(value as string)) return problem;
  return { param: path, code: 'invalid_value', message: `Invalid value: '${value}'. Expected 'auto' or WIDTHxHEIGHT.` };
};

const GRAMMAR = checkPart({
  text: checkObject({ type: checkAnything }),
  grammar: checkObject({ type: checkAnything, syntax: checkChoice('lark', 'regex'), definition: checkText() }, [
    'syntax',
    'definition',
  ]),
});

const IMAGE_TOOL = checkObject({
  type: checkAnything,
  model: checkText(),
  action: checkChoice('auto', 'generate', 'edit'),
  size: checkImageSize,
  quality: checkChoice('auto', 'low', 'medium', 'high', 'xhigh', 'max'),
  background: checkChoice('auto', 'opaque', 'transparent'),
  output_format: checkChoice('png', 'jpeg', 'webp'),
  output_compression: checkInteger(0, 100),
  moderation: checkChoice('auto', 'low'),
  partial_images: checkInteger(0, 3),
  input_fidelity: checkChoice('low', 'high'),
  input_image_mask: checkObject({ image_url: checkText(), file_id: checkText() }),
});

/** Hosted tools that are accepted and never used. */
const HOSTED = [
  'web_search',
  'web_search_preview',
  'file_search',
  'code_interpreter',
  'mcp',
  'computer',
  'computer_use_preview',
  'local_shell',
  'shell',
  'apply_patch',
  'namespace',
  'tool_search',
  'programmatic_tool_calling',
];

const TOOL = checkPart({
  function: checkObject(
    {
      type: checkAnything,
      name: checkName,
      description: checkText(),
      parameters: checkOpenObject,
      strict: checkFlag,
      defer_loading: checkFlag,
    },
    ['name'],
  ),
  custom: checkObject(
    { type: checkAnything, name: checkName, description: checkText(), format: GRAMMAR, defer_loading: checkFlag },
    ['name'],
  ),
  image_generation: IMAGE_TOOL,
  ...Object.fromEntries(HOSTED.map((name) => [name, checkOpenObject])),
});

/** Flat tools; a schema is held to strict mode's rules where `strict` is said to be true. */
export const checkTools: Check = (value, path) =>
  checkList(TOOL, 0, MOST_TOOLS)(value, path) ??
  (value as Tool[])
    .map((tool, index) => checkParameters(tool, `${path}[${index}].parameters`))
    .find((problem) => problem !== undefined);

function checkParameters({ type, name, parameters, strict }: Tool, param: string): Problem | undefined {
  if (type !== 'function' || parameters === undefined || parameters === null) return undefined;
  return checkSchema(parameters, strict === true, {
    param,
    code: 'invalid_function_parameters',
    owner: `function '${name}'`,
  });
}

const NAMED = checkObject({ type: checkAnything, name: checkText() }, ['name']);
const BARE = checkObject({ type: checkAnything });

export const checkToolChoice: Check = checkByType({
  string: checkChoice('none', 'auto', 'required'),
  object: checkPart({
    function: NAMED,
    custom: NAMED,
    allowed_tools: checkObject(
      {
        type: checkAnything,
        mode: checkChoice('auto', 'required'),
        tools: checkList(checkOpenObject, 1, MOST_TOOLS),
      },
      ['mode', 'tools'],
    ),
    image_generation: BARE,
    ...Object.fromEntries(HOSTED.map((name) => [name, BARE])),
    mcp: checkObject({ type: checkAnything, server_label: checkText(), name: checkText() }, ['server_label']),
  }),
});

/** A choice that names what is not among the tools is refused. */
export function checkChosenTool(choice: ToolChoice | undefined, tools: readonly Tool[]): Problem | undefined {
  if (choice === undefined || choice === 'none' || choice === 'auto') return undefined;
  if (typeof choice === 'string') return tools.length > 0 ? undefined : notFound(`'${choice}'`);
  const wanted = choice.type === 'allowed_tools' ? choice.tools! : [choice];
  const missing = wanted.find((entry) => !tools.some((tool) => tool.type === entry.type && tool.name === entry.name));
  return missing && choice.type !== 'mcp' ? notFound(`'${missing.name ?? missing.type}'`) : undefined;
}

const notFound = (what: string): Problem => {
  return { param: 'tool_choice', code: null, message: `Tool choice ${what} not found in 'tools' parameter.` };
};

/** The tool a response uses: the first that the choice allows. Hosted ones but image generation are never used. */
export function chosenTool(choice: ToolChoice | undefined, tools: readonly Tool[]): Tool | undefined {
  if (choice === 'none') return undefined;
  const usable = tools.filter(({ type }) => ['function', 'custom', 'image_generation'].includes(type));
  if (typeof choice !== 'object') return usable.find(({ type }) => type !== 'image_generation') ?? usable[0];
  const wanted = choice.type === 'allowed_tools' ? choice.tools! : [choice];
  return usable.find((tool) => wanted.some(({ type, name }) => type === tool.type && name === tool.name));
}
