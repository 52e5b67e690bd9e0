/** Reading Gemini's JSON: names may come in lowerCamelCase or snake_case, a lone value may stand for a list. */
import { type ChatCall, type JsonObject, type JsonValue, objectAt } from '../../../engine/plugin.ts';

export const protocolName = 'gemini-generate';

/** A call whose streamed answer is one JSON array where the client did not ask for `alt=sse`. */
export interface GeminiCall extends ChatCall {
  readonly array: boolean;
}

export const asArray = (call: ChatCall): boolean => 'array' in call && call.array === true;

export const camelCase = (name: string): string =>
  name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

export const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The object's members by their lowerCamelCase names; what is within them stays as it came. Null means absent. */
export function messageAt(value: JsonValue | undefined, place: string): JsonObject {
  const members = Object.entries(objectAt(value, place)).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name.includes('_') ? camelCase(name) : name, member]));
}

/** The same for a member that may be missing. */
export const optionalMessage = (value: JsonValue | undefined, place: string): JsonObject =>
  value === undefined || value === null ? {} : messageAt(value, place);

/** A request, or the one within a count of tokens. */
export function requestIn(body: JsonObject): JsonObject {
  const request = messageAt(body, 'body');
  const { generateContentRequest } = request;
  return generateContentRequest === undefined ? request : messageAt(generateContentRequest, 'generateContentRequest');
}

export function listOf(value: JsonValue | undefined): JsonValue[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}
