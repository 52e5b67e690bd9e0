import { type Steering, withoutSteering } from './steering.ts';

/** A model's text, cut into the pieces a stream sends. */
export interface ReplyText {
  readonly text: string;
  readonly pieces: readonly string[];
  readonly tokens: number;
  /** True where the output limit cut it. */
  readonly truncated: boolean;
}

const CHARACTERS_PER_TOKEN = 4;
const ECHO_LIMIT = 400;
const FILLER = 'words, naïve words – 東京 🙂 and so on; ';
const MEMORY_LIMIT = 256;

/** One token per four characters (code points), rounded up; nothing costs nothing. */
export function countTokens(text: string): number {
  let characters = text.length;
  for (let index = 0; index < text.length; index += 1)
    if ((text.charCodeAt(index) & 0xfc00) === 0xdc00) characters -= 1;
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

const memory = new Map<string, ReplyText>();

/**
 * The same prompt gives the same answer: it repeats the prompt's words and always holds characters of two, three and
 * four bytes. Remembered, because a benchmark asks the same thing a million times.
 */
export function composeReply(
  prompt: string,
  steering: Steering,
  limit = Number.POSITIVE_INFINITY,
  stops: readonly string[] = [],
): ReplyText {
  const echo = withoutSteering(prompt)
    .slice(0, ECHO_LIMIT)
    .replace(/[\uD800-\uDBFF]$/, '');
  const key = JSON.stringify([echo, steering.chunks, steering.tokens, limit, stops]);
  const known = memory.get(key);
  if (known) return known;
  const text = `You said: ${echo} – Grüße aus 東京 🙂`;
  const reply = cutReply(text, steering, limit, stops);
  if (memory.size >= MEMORY_LIMIT) memory.clear();
  memory.set(key, reply);
  return reply;
}

/** Any text as a reply of the asked number of pieces, without filler. */
export function piecesOf(text: string, count: number): ReplyText {
  return { text, pieces: splitEvenly(Array.from(text), count), tokens: countTokens(text), truncated: false };
}

function cutReply(text: string, steering: Steering, limit: number, stops: readonly string[]): ReplyText {
  const wanted = steering.tokens === undefined ? undefined : steering.tokens * CHARACTERS_PER_TOKEN;
  const full = stretch(Array.from(text), wanted ?? steering.chunks, wanted);
  const limited = full.slice(0, limit * CHARACTERS_PER_TOKEN);
  const stopped = cutAtStop(limited.join(''), stops);
  const truncated = stopped.length === limited.join('').length && limited.length < full.length;
  return {
    text: stopped,
    pieces: splitEvenly(Array.from(stopped), steering.chunks),
    tokens: countTokens(stopped),
    truncated,
  };
}

function stretch(characters: string[], atLeast: number, exactly: number | undefined): string[] {
  const filler = Array.from(FILLER);
  while (characters.length < atLeast) characters.push(...filler);
  return exactly === undefined ? characters : characters.slice(0, exactly);
}

function cutAtStop(text: string, stops: readonly string[]): string {
  const found = stops.map((stop) => text.indexOf(stop)).filter((index) => index >= 0);
  return found.length === 0 ? text : text.slice(0, Math.min(...found));
}

function splitEvenly(characters: readonly string[], count: number): string[] {
  const pieces: string[] = [];
  const total = Math.max(1, Math.min(count, characters.length));
  for (let index = 0; index < total; index += 1) {
    const from = Math.floor((index * characters.length) / total);
    const to = Math.floor(((index + 1) * characters.length) / total);
    if (to > from) pieces.push(characters.slice(from, to).join(''));
  }
  return pieces;
}
