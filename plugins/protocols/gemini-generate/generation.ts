/** What models of different generations want, told by their names: `gemini-2.5-flash`, `gemini-3-pro-image`. */

/** A name without a number is taken for a current one. */
const generationOf = (model: string): number => Number(/gemini-(\d+)/i.exec(model)?.[1] ?? 3);

/** From the third generation on calls are signed, thinking goes by level, and results may hold media. */
export const isSigning = (model: string): boolean => generationOf(model) >= 3;

export const isPro = (model: string): boolean => /-pro\b/i.test(model);
