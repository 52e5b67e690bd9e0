/** Error bodies of vendors that are like OpenAI in all but their errors. */
import type { JsonValue } from '../../contract/values.ts';
import type { VendorError } from '../../contract/wire.ts';
import { isObject } from '../openai/fields.ts';
import { readOpenAiError } from '../openai/usage.ts';
import { plainError } from '../vendor-error.ts';

/** OpenAI's forms, `{"message"}` (Cohere) and `{"detail"}` (Jina, servers made with FastAPI); null for anything else. */
export function readPlainError(value: JsonValue): VendorError | null {
  const known = readOpenAiError(value);
  if (known !== null || !isObject(value)) return known;
  const { detail, message } = value;
  const said = detail ?? message;
  if (said === undefined || said === null) return null;
  return plainError(typeof said === 'string' ? said : JSON.stringify(said));
}
