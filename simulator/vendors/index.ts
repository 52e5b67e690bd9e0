import type { Vendor } from '../contract.ts';
import { gemini } from './gemini.ts';
import { openai } from './openai.ts';
import { xai } from './xai.ts';

/** The only registration: another vendor is another file and a line here. */
export const VENDORS: readonly Vendor[] = [openai, gemini, xai];
