/** `${env:NAME}`, `${env:NAME:-default}`, `${file:PATH}` in a string; `$${` stands for a plain `${`. */
import { nearest } from './nearest.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Lookup {
  readonly environment: Environment;
  /** The content of a file named by `${file:PATH}`, or why there is none. */
  readFile(path: string): { readonly text: string } | { readonly problem: string };
}

interface Unresolved {
  /** The part of the string that could not be resolved, as written. */
  readonly written: string;
  readonly message: string;
  readonly hint: string | null;
}

export interface Substituted {
  readonly text: string;
  readonly unresolved: readonly Unresolved[];
  /** Values that came from outside, so that no message ever shows them. */
  readonly secrets: readonly string[];
}

/** An escape, a whole expression, or a `${` that is neither. */
const pattern = /\$\$\{|\$\{(?:([^{}]*)\})?/g;

type Found =
  | { readonly text: string; readonly fallback?: boolean }
  | { readonly message: string; readonly hint?: string | null };

function resolveEnvironment(argument: string, environment: Environment): Found {
  const split = argument.indexOf(':-');
  const name = split < 0 ? argument : argument.slice(0, split);
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return { message: `"${name}" is no name of an environment variable` };
  const value = environment[name];
  // As in a shell, `:-` and the check treat an empty variable like an unset one.
  if (value !== undefined && value !== '') return { text: value };
  if (split >= 0) return { text: argument.slice(split + 2), fallback: true };
  if (value === '') return { message: `the environment variable ${name} is empty` };
  return { message: `the environment variable ${name} is not set`, hint: nearest(name, Object.keys(environment)) };
}

const unclosed: Found = {
  message: `a $\{ needs its } and may hold no other $\{…}; write $$\{ for a plain $\{`,
};

function resolveOne(expression: string, lookup: Lookup): Found {
  if (expression.startsWith('env:')) return resolveEnvironment(expression.slice(4), lookup.environment);
  if (expression.startsWith('file:')) {
    const found = lookup.readFile(expression.slice(5));
    return 'text' in found ? found : { message: found.problem };
  }
  const message = `unknown substitution $\{${expression}}: write $\{env:NAME} or $\{file:PATH}, or $$\{ for a plain $\{`;
  const kind = expression.split(':', 1)[0] as string;
  return { message, hint: expression.includes(':') ? nearest(kind, ['env', 'file']) : null };
}

/** Resolves all substitutions of one string. */
export function substitute(text: string, lookup: Lookup): Substituted {
  const unresolved: Unresolved[] = [];
  const secrets: string[] = [];
  const replaced = text.replace(pattern, (written: string, expression: string | undefined) => {
    if (written.startsWith('$$')) return written.slice(1);
    const found = expression === undefined ? unclosed : resolveOne(expression, lookup);
    if ('text' in found) {
      if (found.fallback !== true) secrets.push(found.text);
      return found.text;
    }
    unresolved.push({ written, message: found.message, hint: found.hint ?? null });
    return written;
  });
  return { text: replaced, unresolved, secrets };
}
