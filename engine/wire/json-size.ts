/** How much there is to parse in a JSON text: bytes are bounded elsewhere, but `[],` costs a hundred times its bytes. */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const BRACKET = 0x5b;
const BRACE = 0x7b;

/** The place of the quote that ends the string begun at `at`, or the end of the text. */
function stringEnd(bytes: Buffer, at: number): number {
  for (let close = bytes.indexOf(QUOTE, at + 1); close !== -1; close = bytes.indexOf(QUOTE, close + 1)) {
    let before = close - 1;
    while (bytes[before] === BACKSLASH) before--;
    if ((close - before) % 2 === 1) return close;
  }
  return bytes.length;
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
