import { countTokens } from '../../reply-text.ts';
import type { Block, CacheControl } from './blocks.ts';
import type { MessagesRequest } from './request.ts';
import { blocksOf } from './turns.ts';

const TOKENS_PER_MESSAGE = 4;
const TOKENS_PER_FILE = 85;

interface Segment {
  readonly tokens: number;
  readonly mark?: CacheControl | null | undefined;
}

/** A prompt in the order in which it is cached: tools, system, messages. */
function segmentsOf({ tools = [], system = [], messages, cache_control }: MessagesRequest): Segment[] {
  const segment = (block: Block): Segment => ({ tokens: tokensOf(block), mark: block.cache_control });
  const segments: Segment[] = [
    ...tools.map((tool) => ({ tokens: countTokens(JSON.stringify(tool)), mark: tool.cache_control })),
    ...blocksOf(system).map(segment),
    ...messages.flatMap(({ content }) => [{ tokens: TOKENS_PER_MESSAGE }, ...blocksOf(content).map(segment)]),
  ];
  return cache_control ? [...segments, { tokens: 0, mark: cache_control }] : segments;
}

/** Thoughts of earlier turns cost nothing; an image or a file costs a flat sum. */
function tokensOf({ type, text, content, source, name = '', input }: Block): number {
  if (type === 'text') return countTokens(text!);
  if (type === 'tool_use') return countTokens(name + JSON.stringify(input));
  if (type === 'document' && source?.type === 'text') return countTokens(source.data ?? '');
  if (type === 'image' || type === 'document') return TOKENS_PER_FILE;
  return content === undefined ? 0 : sum(blocksOf(content).map((tokens) => ({ tokens: tokensOf(tokens) })));
}

const sum = (segments: readonly Segment[]): number => segments.reduce((total, { tokens }) => total + tokens, 0);

export const promptTokens = (request: MessagesRequest): number => sum(segmentsOf(request));

/** The part of `usage` that is about the prompt; the three counts of input tokens exclude each other. */
export interface InputUsage {
  readonly input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation: { ephemeral_5m_input_tokens: number; ephemeral_1h_input_tokens: number };
}

/** `cached` tokens are read from the cache; those after them and up to the last mark are written to it. */
export function inputUsage(request: MessagesRequest, cached: number): InputUsage {
  const segments = segmentsOf(request);
  const total = sum(segments);
  const read = Math.min(cached, total);
  const marked = segments.findLastIndex(({ mark }) => mark);
  const written = Math.max(0, sum(segments.slice(0, marked + 1)) - read);
  const isHour = segments[marked]?.mark?.ttl === '1h';
  return {
    input_tokens: total - read - written,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    cache_creation: {
      ephemeral_5m_input_tokens: isHour ? 0 : written,
      ephemeral_1h_input_tokens: isHour ? written : 0,
    },
  };
}
