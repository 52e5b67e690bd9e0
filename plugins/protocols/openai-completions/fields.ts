/** Facts of the protocol that several of its files need. */
export const protocolName = 'openai-completions';

/** Output tokens where the client names no bound: the vendor's own default. */
export const defaultMaximum = 16;
