/** Conversations that go on from a kept response, or name its items. */
import {
  type ChatState,
  isObject,
  type JsonObject,
  type JsonValue,
  readFrames,
  type StateAsked,
} from '../../../engine/plugin.ts';
import { isSealed } from './compaction.ts';
import { textOf } from './fields.ts';
import { newId } from './response-object.ts';

export const state: ChatState = { read, itemsOf, expand, answerOf, outputOf, sealedIn };

/** The newest say best where a conversation belongs. */
const mostSealed = 100;

const itemsIn = (input: JsonValue | undefined): JsonObject[] => (Array.isArray(input) ? input.filter(isObject) : []);

function read({ previous_response_id, store, input }: JsonObject): StateAsked {
  const items = itemsIn(input);
  return {
    previous: textOf(previous_response_id) || null,
    store: typeof store === 'boolean' ? store : null,
    references: items.filter(isReference).map(({ id }) => textOf(id)),
    sealed: items.flatMap((item) => sealedIn(item) ?? []).slice(-mostSealed),
  };
}

/** `{type:"item_reference",id}`; clients may leave the type out. */
const isReference = ({ type, role }: JsonObject): boolean =>
  type === 'item_reference' || ((type ?? null) === null && role === undefined);

function sealedIn({ encrypted_content }: JsonObject): string | null {
  const content = textOf(encrypted_content);
  return isSealed(content) ? content : null;
}

const prefixes: Readonly<Record<string, string>> = {
  message: 'msg_',
  function_call: 'fc_',
  function_call_output: 'fc_',
  custom_tool_call: 'ctc_',
  custom_tool_call_output: 'ctc_',
  reasoning: 'rs_',
  compaction: 'cmp_',
  image_generation_call: 'ig_',
};

export function itemsOf({ input }: JsonObject): JsonObject[] {
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : itemsIn(input);
  return items.map(wholeItem);
}

/** With its type, an id, and content as parts. */
function wholeItem(item: JsonObject): JsonObject {
  const type = textOf(item.type) || 'message';
  const id = textOf(item.id) || newId(prefixes[type] ?? 'item_');
  const whole = { ...item, type, id };
  if (type !== 'message' || typeof item.content !== 'string') return whole;
  const text = item.content;
  const part =
    item.role === 'assistant' ? { type: 'output_text', text, annotations: [] } : { type: 'input_text', text };
  return { ...whole, content: [part] };
}

function expand(
  { input }: JsonObject,
  before: readonly JsonObject[],
  found: ReadonlyMap<string, JsonObject>,
): JsonObject[] {
  const own = typeof input === 'string' ? [{ role: 'user', content: input }] : itemsIn(input);
  const whole = own.map((item) => (isReference(item) ? (found.get(textOf(item.id)) ?? item) : item));
  return [...before.filter(isOfUse), ...whole];
}

/** A thought without a signature: no vendor takes it back. */
const isOfUse = ({ type, encrypted_content }: JsonObject): boolean =>
  type !== 'reasoning' || textOf(encrypted_content) !== '';

function answerOf(bytes: Buffer, streamed: boolean): JsonObject | null {
  const text = streamed ? readFrames(bytes).at(-1)?.data : bytes.toString('utf8');
  if (text === undefined) return null;
  const value: unknown = JSON.parse(text);
  const answer = streamed && isObject(value) ? value.response : value;
  return isObject(answer) && textOf(answer.id) !== '' ? answer : null;
}

function outputOf({ output }: JsonObject): readonly JsonObject[] {
  return itemsIn(output);
}
