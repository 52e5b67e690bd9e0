import { nextId } from '../answers.ts';
import { type Check, checkChoice, checkFields, checkList, checkObject, checkText, isRecord } from '../checks.ts';
import { countTokens } from '../reply-text.ts';
import { refuseEvent, refuseProblem } from './problem.ts';

const TOKENS_PER_ITEM = 4;
const TOKENS_PER_IMAGE = 85;
const AUDIO_TOKENS_PER_SECOND = 10;

interface Part {
  readonly type: string;
  readonly text?: string | null;
  readonly transcript?: string | null;
  /** Base64. */
  readonly audio?: string | null;
}

/** An item of the conversation as its events show it. */
export interface Item {
  readonly id: string;
  readonly type: string;
  readonly role?: string;
  readonly status?: string;
  readonly content?: readonly Part[];
  readonly name?: string;
  readonly call_id?: string;
  readonly arguments?: string;
  readonly output?: string;
}

export interface TokenCount {
  readonly text: number;
  readonly audio: number;
  readonly image: number;
}

const PART = checkObject(
  {
    type: checkChoice('input_text', 'input_audio', 'input_image', 'output_text', 'output_audio'),
    text: checkText(),
    audio: checkText(),
    transcript: checkText(),
    image_url: checkText(),
    detail: checkText(),
  },
  ['type'],
);
const PARTS_OF: Record<string, readonly string[]> = {
  system: ['input_text'],
  user: ['input_text', 'input_audio', 'input_image'],
  assistant: ['output_text', 'output_audio'],
};
const COMMON: Record<string, Check> = {
  id: checkText(32),
  type: checkText(),
  object: checkText(),
  status: checkText(),
};
const KINDS: Record<string, { fields: Record<string, Check>; required: readonly string[] }> = {
  message: {
    fields: { ...COMMON, role: checkChoice(...Object.keys(PARTS_OF)), content: checkList(PART, 1, 1000) },
    required: ['role', 'content'],
  },
  function_call: {
    fields: { ...COMMON, name: checkText(), call_id: checkText(), arguments: checkText() },
    required: ['name', 'arguments'],
  },
  function_call_output: {
    fields: { ...COMMON, call_id: checkText(), output: checkText() },
    required: ['call_id', 'output'],
  },
};

/** Checks an item that came from a client and gives it an id; its sound is only measured, as events never show it. */
export function readItem(value: unknown, path: string, lenient: boolean | undefined): { item: Item; bytes: number } {
  const given = isRecord(value) ? value : {};
  const kind = Object.hasOwn(KINDS, String(given.type)) ? KINDS[String(given.type)] : undefined;
  if (!kind)
    return refuseEvent(
      `${path}.type`,
      'invalid_value',
      `Invalid value: '${given.type}'. Supported values are: 'message', 'function_call', and 'function_call_output'.`,
    );
  refuseProblem(checkFields(given, kind.fields, kind.required, path, lenient));
  const item = {
    ...given,
    id: given.id ?? nextId('item_'),
    object: 'realtime.item',
    status: 'completed',
  } as unknown as Item;
  if (!item.content) return { item, bytes: 0 };
  refuseParts(item, path);
  const bytes = item.content.reduce((sum, { audio }) => sum + Buffer.byteLength(audio ?? '', 'base64'), 0);
  const content = item.content.map(({ audio: _, ...part }) => part);
  return { item: { ...item, content }, bytes };
}

function refuseParts({ role = '', content = [] }: Item, path: string): void {
  const allowed = PARTS_OF[role]!;
  const wrong = content.findIndex(({ type }) => !allowed.includes(type));
  if (wrong < 0) return;
  const message = `Invalid value: '${content[wrong]!.type}'. Supported values are: '${allowed.join("', '")}'.`;
  refuseEvent(`${path}.content[${wrong}].type`, 'invalid_value', message);
}

/** The items of a session in their order, with the seconds of sound in each. */
export class Conversation {
  readonly items: Item[] = [];
  readonly #seconds = new Map<string, number>();

  /** Behind the item `after` (`root`: first of all), else last. Returns the id of the one before it. */
  add(item: Item, seconds: number, after?: string): string | null {
    if (this.find(item.id))
      refuseEvent('item.id', 'item_create_duplicate_item_id', `Error adding item: '${item.id}' already exists.`);
    const index = after === 'root' ? 0 : this.#place(after);
    this.items.splice(index, 0, item);
    this.#seconds.set(item.id, seconds);
    return this.items[index - 1]?.id ?? null;
  }

  find(id: unknown): Item | undefined {
    return this.items.find((item) => item.id === id);
  }

  /** Puts an item in the place of the one with its id. Returns the id of the one before it. */
  replace(item: Item, seconds: number): string | null {
    const index = this.items.findIndex(({ id }) => id === item.id);
    if (index < 0) return null;
    this.items[index] = item;
    this.#seconds.set(item.id, seconds);
    return this.items[index - 1]?.id ?? null;
  }

  remove(item: Item): void {
    this.items.splice(this.items.indexOf(item), 1);
    this.#seconds.delete(item.id);
  }

  /** Text: 4 an item and 1 for four characters; sound: 10 a second; an image 85. */
  count(items: readonly Item[]): TokenCount {
    const text = items.reduce((sum, item) => sum + TOKENS_PER_ITEM + countTokens(textOf(item)), 0);
    const seconds = items.reduce((sum, { id }) => sum + (this.#seconds.get(id) ?? 0), 0);
    const images = items.flatMap(({ content = [] }) => content.filter(({ type }) => type === 'input_image'));
    return { text, audio: Math.ceil(seconds * AUDIO_TOKENS_PER_SECOND), image: images.length * TOKENS_PER_IMAGE };
  }

  #place(after: string | undefined): number {
    if (after === undefined) return this.items.length;
    const index = this.items.findIndex(({ id }) => id === after);
    if (index >= 0) return index + 1;
    const message = `Error adding item: the previous item with id '${after}' does not exist.`;
    return refuseEvent('previous_item_id', 'item_create_invalid_previous_item_id', message);
  }
}

/** The text of the last message a user sent; nothing where it is sound alone. */
export function lastUserText(items: readonly Item[]): string {
  const content = items.findLast(({ role }) => role === 'user')?.content ?? [];
  return content.map(({ text }) => text ?? '').join(' ');
}

function textOf({ content = [], name = '', arguments: input = '', output = '' }: Item): string {
  return [...content.map(({ text, transcript }) => text ?? transcript ?? ''), name, input, output].join('');
}
