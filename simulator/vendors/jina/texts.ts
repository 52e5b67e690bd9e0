import { type Check, checkByType, checkObject, checkText } from '../../checks.ts';

/** A text as Jina takes it, bare or in an object. */
export type Text = string | { readonly text: string };

export const CHECK_TEXT: Check = checkByType({
  string: checkText(),
  object: checkObject({ text: checkText() }, ['text']),
});

export const textOf = (text: Text): string => (typeof text === 'string' ? text : text.text);
