/** Counting where no vendor does: four characters are about one token. */
import type { JsonValue } from '../contract/values.ts';
import { isObject } from './openai/fields.ts';

/** What an encoded picture, sound or file counts at most, in characters: its bytes say nothing of its tokens. */
const mostOfData = 4000;
const dataFields: readonly string[] = ['data', 'file_data'];

/** Tokens of a request. */
export const estimateTokens = (body: JsonValue | undefined): number => Math.ceil(charactersIn(body) / 4);

function charactersIn(value: JsonValue | undefined): number {
  if (typeof value === 'string') return /^data:/i.test(value) ? Math.min(mostOfData, value.length) : value.length;
  if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + charactersIn(one), 0);
  if (!isObject(value)) return 1;
  return Object.entries(value).reduce((sum, [name, one]) => sum + charactersOf(name, one), 0);
}

const charactersOf = (name: string, value: JsonValue): number =>
  dataFields.includes(name) ? Math.min(mostOfData, charactersIn(value)) : name.length + charactersIn(value);
