/** How much one frame of a stream says, for answers that break off before their vendor has counted them. */

/** Frames up to so many bytes hold about one token beside their fixed members; only larger ones are looked into. */
const plainFrame = 384;

/** What vendors call the pieces of an answer. Likelihoods and signatures have other names. */
const pieces =
  /"(?:content|reasoning_content|reasoning|refusal|arguments|text|delta)"\s*:\s*"([^"\\]*(?:\\.[^"\\]*)*)"/g;

/** Tokens of a frame, at least one; `text` has one character for each byte, and four are about one token. */
export function saidTokens(text: string): number {
  if (text.length <= plainFrame) return 1;
  let length = 0;
  for (const [, piece] of text.matchAll(pieces)) length += piece!.length;
  return Math.max(1, Math.ceil(length / 4));
}
