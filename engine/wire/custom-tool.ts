/** Tools that take plain text stand as functions with one string `input` on their way between protocols. */
import type { JsonObject } from '../contract/values.ts';

export const customToolParameters: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
};

export const customToolArguments = (input: string): string => JSON.stringify({ input });

/** The plain text within a call's arguments; a model that wrote no such object is taken at its word. */
export function customToolInput(callArguments: string): string {
  try {
    const value: unknown = JSON.parse(callArguments);
    const input = (value as { input?: unknown } | null)?.input;
    return typeof input === 'string' ? input : callArguments;
  } catch {
    return callArguments;
  }
}
