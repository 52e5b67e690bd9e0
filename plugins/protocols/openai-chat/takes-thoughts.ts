/**
 * OpenAI's own models refuse every message that holds a thought; those of others (DeepSeek, Kimi) want theirs back.
 * Told by the name: `gpt-5.5`, `o3`, `ft:gpt-4.1:…`.
 */
export const takesThoughts = (vendorModel: string): boolean =>
  !/^(?:ft:)?(?:gpt-(?!oss)|chatgpt-|o\d)/.test(vendorModel);
