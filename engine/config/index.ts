/** The door of the configuration: load, compare, watch. */

export { diffConfigurations } from './diff.ts';
export { type Fault, formatFault } from './fault.ts';
export { normalizeStage } from './link-chains.ts';
export { type Configuration, type LoadResult, loadConfiguration } from './load.ts';
export { packageRoot } from './package-root.ts';
export type { GatewaySettings, ObjectSettings, S3Settings } from './settings.ts';
export { type ConfigurationWatch, watchConfiguration } from './watch.ts';
