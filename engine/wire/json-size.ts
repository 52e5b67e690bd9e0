/** How much there is to parse in a JSON text: bytes are bounded elsewhere, but `[],` costs a hundred times its bytes. */
import { closingQuote } from './json.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const BRACKET = 0x5b;
const BRACKET_END = 0x5d;
const BRACE = 0x7b;
const BRACE_END = 0x7d;

/** The place of the quote that ends the string begun at `at`, or the end of the text. */
function stringEnd(bytes: Buffer, at: number): number {
  const close = closingQuote(bytes, at + 1);
  return close === -1 ? bytes.length : close;
}

/** Whether lists and objects stand more than `most` deep in one another; the text need not be valid JSON. */
export function isDeeper(bytes: Buffer, most: number): boolean {
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = stringEnd(bytes, at);
    else if (byte === BRACKET || byte === BRACE) {
      if (++depth > most) return true;
    } else if (byte === BRACKET_END || byte === BRACE_END) depth--;
  }
  return false;
}

/** Whether the text has more than `most` commas and opening brackets outside its strings; it need not be valid JSON. */
export function hasMoreValues(bytes: Buffer, most: number): boolean {
  if (bytes.length <= most) return false;
  let count = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = stringEnd(bytes, at);
    else if ((byte === COMMA || byte === BRACKET || byte === BRACE) && ++count > most) return true;
  }
  return false;
}
