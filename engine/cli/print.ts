/** Standard output: what a command was asked for, and nothing else. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

/** Standard error: what is worth knowing beside the answer. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** `2026-01-31 12:03:44` (UTC), or a dash. */
export function formatTime(milliseconds: number | null): string {
  return milliseconds === null ? '–' : new Date(milliseconds).toISOString().slice(0, 19).replace('T', ' ');
}
