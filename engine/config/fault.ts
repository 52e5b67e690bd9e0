/** What is wrong with a configuration, and where. */

export type Path = readonly (string | number)[];

/** Counted from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

export interface Fault extends Place {
  readonly file: string;
  readonly message: string;
  /** The word that was probably meant. */
  readonly hint: string | null;
}

/** `models.yaml:3:5 families.alpa: … (did you mean "alpha"?)` */
export function formatFault(fault: Fault): string {
  const hint = fault.hint === null ? '' : ` (did you mean "${fault.hint}"?)`;
  return `${fault.file}:${fault.line}:${fault.column} ${fault.message}${hint}`;
}

/** `routes[2].path`, `models.beta-4-image.price` */
export function formatPath(path: Path): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? part : `${text}.${part}`;
  }, '');
}

/** By file, then by place. */
export function sortFaults(faults: readonly Fault[]): Fault[] {
  return [...faults].sort(
    (left, right) => left.file.localeCompare(right.file) || left.line - right.line || left.column - right.column,
  );
}
