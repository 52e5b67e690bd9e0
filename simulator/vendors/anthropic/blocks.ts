import { decodeBase64 } from '../../images/measure.ts';
import {
  anything,
  type Check,
  choice,
  dictionary,
  type Fields,
  flag,
  list,
  nullable,
  object,
  tagged,
  text,
  textOr,
} from './checks.ts';

/** A content block of a request that has been checked; which fields it has depends on its `type`. */
export interface Block {
  readonly type: string;
  readonly text?: string;
  readonly citations?: readonly unknown[] | null;
  readonly source?: { readonly type: string; readonly data?: string };
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly tool_use_id?: string;
  readonly content?: string | readonly Block[];
  readonly thinking?: string;
  readonly signature?: string;
  readonly data?: string;
  readonly cache_control?: CacheControl | null;
}

export interface CacheControl {
  readonly ttl?: '5m' | '1h';
}

const ID = /^[a-zA-Z0-9_-]+$/;

/** The first bytes of what each media type promises. */
const BEGINNINGS: Record<string, readonly string[]> = {
  'image/jpeg': ['\xff\xd8'],
  'image/png': ['\x89PNG'],
  'image/gif': ['GIF87a', 'GIF89a'],
  'image/webp': ['RIFF'],
  'application/pdf': ['%PDF'],
};

export const CACHE_CONTROL = nullable(object({ type: choice('ephemeral'), ttl: choice('5m', '1h') }, ['type']));

const block = (fields: Fields, required: string[]): Check =>
  object({ type: anything, cache_control: CACHE_CONTROL, ...fields }, required);

/** Texts of blocks must say something; the message names the list they are in. */
const checkText: Check = (value, path) => {
  if (typeof value !== 'string') return `${path}: Input should be a valid string`;
  const place = path.split('.')[0];
  if (value === '') return `${place}: text content blocks must be non-empty`;
  return value.trim() === '' ? `${place}: text content blocks must contain non-whitespace text` : undefined;
};

export const TEXT_BLOCK = block({ text: checkText, citations: nullable(list(dictionary)) }, ['text']);

/** Base64 whose bytes are of the announced type. */
function base64Source(...types: string[]): Check {
  const shape = object({ type: anything, media_type: choice(...types), data: text(1) }, ['media_type', 'data']);
  return (value, path) => {
    const problem = shape(value, path);
    if (problem !== undefined) return problem;
    const { media_type: type, data } = value as { media_type: string; data: string };
    const bytes = decodeBase64(data);
    if (!bytes) return `${path}.data: invalid base64 data`;
    const start = bytes.toString('latin1', 0, 8);
    if (BEGINNINGS[type]!.some((beginning) => start.startsWith(beginning))) return undefined;
    if (type === 'application/pdf') return `${path}.data: The PDF specified was not valid.`;
    const known = Object.values(BEGINNINGS)
      .flat()
      .some((beginning) => start.startsWith(beginning));
    return known
      ? `${path}.data: Image does not match the provided media type ${type}`
      : `${path}.data: Could not process image`;
  };
}

const checkUrl: Check = (value, path) =>
  text(1)(value, path) ??
  (/^https:\/\/[^\s/]+/.test(value as string) ? undefined : `${path}: Only HTTPS URLs are supported.`);

const URL_SOURCE = object({ type: anything, url: checkUrl }, ['url']);
const FILE_SOURCE = object({ type: anything, file_id: text(1) }, ['file_id']);

const IMAGE_BLOCK = block(
  {
    source: tagged({
      base64: base64Source('image/jpeg', 'image/png', 'image/gif', 'image/webp'),
      url: URL_SOURCE,
      file: FILE_SOURCE,
    }),
    transformations: nullable(dictionary),
  },
  ['source'],
);
const CITATIONS = nullable(object({ enabled: flag }));
const DOCUMENT_BLOCK = block(
  {
    source: tagged({
      base64: base64Source('application/pdf'),
      text: object({ type: anything, media_type: choice('text/plain'), data: text() }, ['media_type', 'data']),
      content: object({ type: anything, content: textOr(list(tagged({ text: TEXT_BLOCK, image: IMAGE_BLOCK }))) }, [
        'content',
      ]),
      url: URL_SOURCE,
      file: FILE_SOURCE,
    }),
    title: nullable(text(1, 500)),
    context: nullable(text(1)),
    citations: CITATIONS,
  },
  ['source'],
);
const SEARCH_RESULT = block(
  { content: list(tagged({ text: TEXT_BLOCK })), source: text(), title: text(), citations: CITATIONS },
  ['content', 'source', 'title'],
);
const TOOL_RESULT = block(
  {
    tool_use_id: text(1, 256, ID),
    content: textOr(
      list(
        tagged({
          text: TEXT_BLOCK,
          image: IMAGE_BLOCK,
          document: DOCUMENT_BLOCK,
          search_result: SEARCH_RESULT,
          tool_reference: dictionary,
        }),
      ),
    ),
    is_error: flag,
    toolset_name: nullable(text()),
  },
  ['tool_use_id'],
);
const TOOL_USE = block(
  { id: text(1, 256, ID), name: text(1, 200), input: dictionary, caller: dictionary, toolset_name: nullable(text()) },
  ['id', 'name', 'input'],
);

/** Blocks around tools that run at the vendor; the simulator has none and only takes them back. */
const SERVER_BLOCKS: Fields = Object.fromEntries(
  [
    'server_tool_use',
    'web_search_tool_result',
    'web_fetch_tool_result',
    'code_execution_tool_result',
    'bash_code_execution_tool_result',
    'text_editor_code_execution_tool_result',
    'tool_search_tool_result',
    'container_upload',
  ].map((type) => [type, dictionary]),
);

const USER_BLOCKS: Fields = {
  text: TEXT_BLOCK,
  image: IMAGE_BLOCK,
  document: DOCUMENT_BLOCK,
  search_result: SEARCH_RESULT,
  tool_result: TOOL_RESULT,
  ...SERVER_BLOCKS,
};
const ASSISTANT_BLOCKS: Fields = {
  text: TEXT_BLOCK,
  document: DOCUMENT_BLOCK,
  thinking: object({ type: anything, thinking: text(), signature: text() }, ['thinking', 'signature']),
  redacted_thinking: object({ type: anything, data: text() }, ['data']),
  tool_use: TOOL_USE,
  ...SERVER_BLOCKS,
};

const message = (kinds: Fields): Check => object({ role: anything, content: textOr(list(tagged(kinds))) }, ['content']);

const BY_ROLE: Fields = {
  user: message(USER_BLOCKS),
  assistant: message(ASSISTANT_BLOCKS),
  system: message({ text: TEXT_BLOCK }),
};

/** One message, by its role. */
export const checkMessage: Check = (value, path) => {
  const problem = dictionary(value, path);
  if (problem !== undefined) return problem;
  const { role } = value as { role?: unknown };
  if (role === undefined) return `${path}.role: Field required`;
  if (typeof role === 'string' && Object.hasOwn(BY_ROLE, role)) return BY_ROLE[role]!(value, path);
  return `${path}.role: Input should be 'user', 'assistant' or 'system'`;
};
