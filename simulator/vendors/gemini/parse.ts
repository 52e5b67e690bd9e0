import { isRecord } from '../../checks.ts';
import { decodeBase64 } from '../../images/measure.ts';
import type { Violation } from './errors.ts';
import { ENUMS, MESSAGES } from './messages.ts';

const PACKAGE = 'type.googleapis.com/google.ai.generativelanguage.v1beta';
const DEPTH_LIMIT = 64;

interface Parser {
  readonly violations: Violation[];
  readonly lenient: boolean;
}

/**
 * Reads JSON as Google's proto parser does: lowerCamelCase or snake_case names, a lone value for a list, numbers as
 * text; unknown names and wrong types become violations. The result has lowerCamelCase names.
 */
export function parseMessage(
  type: string,
  value: unknown,
  lenient = false,
): { value: unknown; violations: Violation[] } {
  const parser = { violations: [], lenient };
  return { value: parseRecord(parser, type, value, '', 0), violations: parser.violations };
}

function parseRecord(parser: Parser, type: string, value: unknown, path: string, depth: number): unknown {
  if (!isRecord(value) || depth > DEPTH_LIMIT) return violate(parser, path, type, value);
  const fields = MESSAGES[type]!;
  const result: Record<string, unknown> = {};
  for (const [name, entry] of Object.entries(value)) {
    const known = camelCase(name);
    if (!Object.hasOwn(fields, known)) {
      if (!parser.lenient) parser.violations.push(unknownName(name, path));
    } else if (entry !== null) {
      const at = path === '' ? snakeCase(known) : `${path}.${snakeCase(known)}`;
      result[known] = parseField(parser, fields[known]!, entry, at, depth + 1);
    }
  }
  return result;
}

function parseField(parser: Parser, type: string, value: unknown, path: string, depth: number): unknown {
  if (type.endsWith('[]')) {
    const item = type.slice(0, -2);
    return [value].flat().map((entry, index) => parseField(parser, item, entry, `${path}[${index}]`, depth));
  }
  if (type.endsWith('{}')) {
    if (!isRecord(value)) return violate(parser, path, type, value);
    const item = type.slice(0, -2);
    const entries = Object.entries(value).map(([key, entry]) => [
      key,
      parseField(parser, item, entry, `${path}[${key}]`, depth),
    ]);
    return Object.fromEntries(entries);
  }
  if (Object.hasOwn(MESSAGES, type)) return parseRecord(parser, type, value, path, depth);
  return fits(type, value) ? scalar(type, value) : violate(parser, path, type, value);
}

function fits(type: string, value: unknown): boolean {
  switch (type) {
    case 'any':
      return true;
    case 'string':
      return typeof value === 'string';
    case 'bool':
      return typeof value === 'boolean';
    case 'struct':
      return isRecord(value);
    case 'bytes':
      return typeof value === 'string' && decodeBase64(value) !== undefined;
    case 'int':
      return isNumeric(value) && Number.isInteger(Number(value));
    case 'float':
      return isNumeric(value) && Number.isFinite(Number(value));
    default:
      return ENUMS[type.slice('enum:'.length)]!.includes(typeof value === 'string' ? upperCase(type, value) : '');
  }
}

const isNumeric = (value: unknown): boolean =>
  typeof value === 'number' || (typeof value === 'string' && value.trim() !== '');

/** Schema types are accepted in lower case, all other names are not. */
const upperCase = (type: string, value: string): string => (type === 'enum:Type' ? value.toUpperCase() : value);

function scalar(type: string, value: unknown): unknown {
  return type === 'int' || type === 'float' ? Number(value) : value;
}

function unknownName(name: string, path: string): Violation {
  const place = path === '' ? '' : ` at '${path}'`;
  return {
    field: path,
    description: `Invalid JSON payload received. Unknown name "${name}"${place}: Cannot find field.`,
  };
}

function violate(parser: Parser, path: string, type: string, value: unknown): undefined {
  const shown = JSON.stringify(value)?.slice(0, 80);
  const named = type.startsWith('enum:') ? type.slice('enum:'.length) : type;
  const full = /^[A-Z]/.test(named) ? `${PACKAGE}.${named}` : `TYPE_${named.toUpperCase()}`;
  const reason = type === 'bytes' ? `, Base64 decoding failed for ${shown}` : `, ${shown}`;
  parser.violations.push({ field: path, description: `Invalid value at '${path}' (${full})${reason}` });
  return undefined;
}

function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
