export { createCounters } from './memory.ts';
