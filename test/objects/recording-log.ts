import type { Log } from '../../engine/contract/values.ts';

/** A log that keeps its lines, so that a test can say that nothing was written, or what. */
export function recordingLog(): Log & { readonly lines: string[] } {
  const lines: string[] = [];
  const record = (level: string) => (fields: object, message: string) => {
    lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  };
  return { lines, debug: record('debug'), info: record('info'), warn: record('warn'), error: record('error') };
}
