/** The door of the configuration: load, compare, watch. */
export { type Fault, formatFault } from './fault.ts';
export { normalizeStage } from './link-chains.ts';
export { type Configuration, type LoadResult, loadConfiguration } from './load.ts';
export { packageRoot } from './package-root.ts';
export type { GatewaySettings, ObjectSettings, S3Settings } from './settings.ts';
