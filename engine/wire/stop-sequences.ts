/** Stop sequences applied to a text that comes in pieces: wherever it is cut, the same text is let through. */

/** A sequence, and for each of its beginnings how much of it is a shorter beginning again (Knuth, Morris, Pratt). */
interface Sequence {
  readonly text: string;
  readonly borders: readonly number[];
}

export type StopSequences = readonly Sequence[];

/** At least one, and none of them empty. */
export const compileStops = (texts: readonly string[]): StopSequences =>
  texts.map((text) => ({ text, borders: bordersOf(text) }));

function bordersOf(text: string): number[] {
  const borders = [0];
  for (let at = 1, length = 0; at < text.length; at++) {
    length = longerBy(text, borders, length, text.charCodeAt(at));
    borders.push(length);
  }
  return borders;
}

/** How much of `text` ends here, where `length` characters of it ended before and one more came. */
function longerBy(text: string, borders: readonly number[], length: number, character: number): number {
  while (length > 0 && text.charCodeAt(length) !== character) length = borders[length - 1]!;
  return text.charCodeAt(length) === character ? length + 1 : length;
}

export interface Passed {
  readonly text: string;
  /** The sequence that ended the text: the first one that was complete, of several the longest. */
  readonly met: string | null;
}

/** Keeps back only what may still be the beginning of a sequence. One matcher a text; after `met` it is spent. */
export class StopMatcher {
  private readonly sequences: StopSequences;
  /** For each sequence how much of it the text ends with. */
  private readonly ended: number[];
  private held = '';

  constructor(sequences: StopSequences) {
    this.sequences = sequences;
    this.ended = sequences.map(() => 0);
  }

  push(piece: string): Passed {
    const text = this.held + piece;
    for (let at = 0; at < piece.length; at++) {
      const met = this.take(piece.charCodeAt(at));
      if (met !== null) return { text: text.slice(0, this.held.length + at + 1 - met.length), met };
    }
    const passed = text.length - Math.max(...this.ended);
    this.held = text.slice(passed);
    return { text: text.slice(0, passed), met: null };
  }

  /** What was kept back: the text ends here, or something else follows. */
  rest(): string {
    const { held } = this;
    this.held = '';
    this.ended.fill(0);
    return held;
  }

  private take(character: number): string | null {
    let met: string | null = null;
    for (let index = 0; index < this.sequences.length; index++) {
      const { text, borders } = this.sequences[index]!;
      const length = longerBy(text, borders, this.ended[index]!, character);
      this.ended[index] = length;
      if (length === text.length && length > (met?.length ?? 0)) met = text;
    }
    return met;
  }
}
