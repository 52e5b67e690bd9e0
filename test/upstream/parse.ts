/** Runs the parser over bytes in given pieces and writes down what it said. */
import { AnswerParser } from '../../engine/upstream/http1/answer-parser.ts';

export interface Parsed {
  readonly status: number;
  readonly headers: string;
  readonly body: string;
  /** `ended`, `open` (more bytes are needed) or the fault. */
  readonly state: string;
  readonly reusable: boolean;
  readonly keepAlive: number;
}

/** In Latin-1. `closes`: the connection ends behind the last piece. */
export function parse(pieces: readonly Buffer[], closes: boolean): Parsed {
  const parser = new AnswerParser();
  parser.begin();
  let heads = 0;
  let body = '';
  const hear = () => {
    if (parser.headCame) heads++;
    if (parser.body !== null) body += parser.body.toString('latin1');
  };
  for (const piece of pieces) {
    if (parser.fault !== null) break;
    // What the parser moves about is its own.
    parser.push(Buffer.from(piece));
    hear();
  }
  if (closes && parser.fault === null && !parser.ended) {
    parser.finish();
    hear();
  }
  if (heads > 1) throw new Error('a second head');
  const { status, headers, reusable, keepAlive } = parser;
  const state = parser.fault ?? (parser.ended ? 'ended' : 'open');
  return {
    status,
    headers: headers.toString('latin1'),
    body,
    state,
    reusable: reusable && state === 'ended',
    keepAlive,
  };
}

/** The text cut at these places. */
export function cut(text: string, places: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text, 'latin1');
  const sorted = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((one, other) => one - other);
  return [0, ...sorted].map((start, index) => bytes.subarray(start, sorted[index] ?? bytes.length));
}
