/** What a command prints about an error that ended it. */
import { ConfigurationError } from '../configuration-error.ts';
import { GatewayError } from '../errors.ts';

/** Faults of the operating system that need no more than a sentence. */
const systemSentences: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is taken',
  EACCES: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  ENOENT: 'no such file or directory',
  ENOTDIR: 'not a directory',
  EEXIST: 'there is a file of this name',
  EISDIR: 'a directory instead of a file',
};

/** One sentence (or the list of faults) for what is the operator's to mend; the stack for what is a fault of our own. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return `gateway: ${String(error)}`;
  if (error instanceof ConfigurationError) return error.message;
  if (error instanceof GatewayError) return `gateway: ${error.status} ${error.code}: ${error.message}`;
  const { code, path } = error as NodeJS.ErrnoException;
  const sentence = code === undefined ? undefined : systemSentences[code];
  if (sentence !== undefined) return `gateway: ${path ?? error.message}: ${sentence}`;
  const isOurOwn = error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError;
  return isOurOwn ? (error.stack ?? error.message) : `gateway: ${error.message}`;
}
