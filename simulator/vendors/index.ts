import type { Vendor } from '../contract.ts';
import { anthropic } from './anthropic.ts';
import { cohere } from './cohere.ts';
import { gemini } from './gemini.ts';
import { jina } from './jina.ts';
import { openai } from './openai.ts';
import { xai } from './xai.ts';

/** The only registration: another vendor is another file and a line here. */
export const VENDORS: readonly Vendor[] = [openai, anthropic, gemini, xai, cohere, jina];
