import { unseal } from '../../signatures.ts';
import type { Block } from './blocks.ts';
import { first } from './checks.ts';

export interface Message {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: string | readonly Block[];
}

/** Neighbouring messages of one role; `at` is the index of the first of them. */
export interface Turn {
  readonly role: Message['role'];
  readonly blocks: readonly Block[];
  readonly at: number;
}

export const blocksOf = (content: string | readonly Block[]): readonly Block[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

export function turnsOf(messages: readonly Message[]): Turn[] {
  const turns: Turn[] = [];
  for (const [at, { role, content }] of messages.entries()) {
    const last = turns.at(-1);
    if (last?.role === role) turns[turns.length - 1] = { ...last, blocks: [...last.blocks, ...blocksOf(content)] };
    else turns.push({ role, blocks: blocksOf(content), at });
  }
  return turns;
}

/** What is wrong with the order of messages, with tool results and with thoughts that came back. */
export function checkTurns(messages: readonly Message[]): string | undefined {
  const turns = turnsOf(messages);
  return (
    first(messages, ({ role, content }, index) => {
      const optional = role === 'assistant' && index === messages.length - 1;
      if (content.length > 0 || optional) return undefined;
      return `messages.${index}: all messages must have non-empty content except for the optional final assistant message`;
    }) ??
    checkOpening(turns) ??
    checkIds(turns) ??
    first(turns, (turn, index) => checkToolUses(turn, turns[index + 1]) ?? checkToolResults(turn, turns[index - 1])) ??
    first(messages, checkThoughts) ??
    checkEnd(turns.at(-1)!)
  );
}

function checkOpening(turns: readonly Turn[]): string | undefined {
  const opening = turns.find(({ role }) => role !== 'system');
  return opening?.role === 'user' ? undefined : 'messages: first message must use the "user" role';
}

function checkIds(turns: readonly Turn[]): string | undefined {
  const ids = turns.flatMap(({ blocks }) => idsOf(blocks));
  return new Set(ids).size === ids.length ? undefined : 'messages: `tool_use` ids must be unique';
}

const idsOf = (blocks: readonly Block[]): string[] =>
  blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id!);

/** The next turn must begin with a result for each call. */
function checkToolUses({ blocks, at }: Turn, next: Turn | undefined): string | undefined {
  const ids = idsOf(blocks);
  const end = next?.blocks.findIndex(({ type }) => type !== 'tool_result') ?? 0;
  const leading = end < 0 ? next!.blocks : (next?.blocks.slice(0, end) ?? []);
  const open = ids.filter((id) => !leading.some(({ tool_use_id }) => tool_use_id === id));
  if (open.length === 0) return undefined;
  return `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
}

function checkToolResults({ blocks, at }: Turn, previous: Turn | undefined): string | undefined {
  const known = new Set(previous ? idsOf(previous.blocks) : []);
  return first(blocks, ({ type, tool_use_id: id }, index) => {
    if (type !== 'tool_result' || known.delete(id!)) return undefined;
    return `messages.${at}.content.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
  });
}

/** Thoughts come back as they were sent: the seal holds the text that was shown. */
function checkThoughts({ content }: Message, at: number): string | undefined {
  return first(blocksOf(content), ({ type, thinking, signature, data }, index) => {
    const path = `messages.${at}.content.${index}`;
    if (type === 'thinking' && unsealThought(signature!) !== thinking)
      return `${path}: Invalid \`signature\` in \`thinking\` block`;
    if (type === 'redacted_thinking' && unseal(data!) === undefined)
      return `${path}: Invalid \`data\` in \`redacted_thinking\` block`;
    return undefined;
  });
}

function unsealThought(signature: string): string | undefined {
  const sealed = unseal(signature);
  return sealed === undefined ? undefined : sealed.slice(sealed.indexOf('\n') + 1);
}

function checkEnd({ role, blocks }: Turn): string | undefined {
  const text = blocks.at(-1)?.text;
  if (role !== 'assistant' || text === undefined || text === text.trimEnd()) return undefined;
  return 'messages: final assistant content cannot end with trailing whitespace';
}

const textOf = (blocks: readonly Block[]): string =>
  blocks
    .filter(({ type }) => type === 'text')
    .map(({ text }) => text)
    .join('\n');

const speaks = ({ role, blocks }: Turn): boolean => role === 'user' && blocks.some(({ type }) => type === 'text');

/** The text of the last turn of the user that has any, which the answer echoes and which may steer it. */
export function lastUserText(turns: readonly Turn[]): string {
  const last = turns.findLast(speaks);
  return last ? textOf(last.blocks) : '';
}

/** Turns of tool calls since the user last spoke. */
export function roundsSoFar(turns: readonly Turn[]): number {
  const since = turns.slice(turns.findLastIndex(speaks) + 1);
  return since.filter(({ role, blocks }) => role === 'assistant' && idsOf(blocks).length > 0).length;
}
