/** What OpenAI's vendors take of what a client may say. */
import type { ToolNameRule } from '../../contract/wire.ts';

export const openAiToolNames: ToolNameRule = { pattern: /^[a-zA-Z0-9_-]{1,64}$/, longest: 64 };

const mostStops = 4;

export const openAiTakesStop = (_sequence: string, index: number): boolean => index < mostStops;
