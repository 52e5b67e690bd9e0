/** The door of the configuration: load, compare, watch. */

export { readActive, removeActive, writeActive } from './active.ts';
export { diffConfigurations } from './diff.ts';
export { type Fault, formatFault } from './fault.ts';
export { type Configuration, type LoadResult, loadConfiguration } from './load.ts';
export { nearest } from './nearest.ts';
export { packageRoot, packageVersion } from './package-root.ts';
export { processEnvironment } from './read.ts';
export type { Environment } from './substitute.ts';
export { formatDuration, formatSize } from './units.ts';
export { watchConfiguration } from './watch.ts';
