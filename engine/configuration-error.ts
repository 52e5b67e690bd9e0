/** Loading and compiling a configuration, where what is wrong with it ends the matter. */
import { compileSnapshot, RouteError, StageError } from './chain/compile.ts';
import type { Lent } from './chain/lent.ts';
import type { Snapshot } from './chain/snapshot.ts';
import { type Configuration, type Environment, type Fault, formatFault, loadConfiguration } from './config/index.ts';
import type { Registry } from './plugin.ts';

/** The configuration cannot be used; the faults say where and why. */
export class ConfigurationError extends Error {
  readonly faults: readonly Fault[];
  /** All that was read: a change of any of them may mend it. */
  readonly files: readonly string[];

  constructor(faults: readonly Fault[], files: readonly string[]) {
    super(faults.map(formatFault).join('\n'));
    this.name = 'ConfigurationError';
    this.faults = faults;
    this.files = files;
  }
}

/** Throws ConfigurationError. */
export async function requireConfiguration(
  folder: string,
  builtIns: Registry,
  environment?: Environment,
): Promise<Configuration> {
  const result = await loadConfiguration(folder, builtIns, environment);
  if (!result.ok) throw new ConfigurationError(result.faults, result.files);
  return result.configuration;
}

/** Throws ConfigurationError where a plugin refuses its options or a chain cannot serve its route, with the place in routes.yaml. */
export async function compileConfiguration(configuration: Configuration, lent: Lent): Promise<Snapshot> {
  try {
    return await compileSnapshot(configuration, lent);
  } catch (error) {
    const found = placeOf(error);
    if (found === null) throw error;
    const { routes } = configuration.sources;
    const place = routes.locate(found.path);
    const message = `${found.name}: ${(error as Error).message}`;
    throw new ConfigurationError([{ file: routes.file, ...place, message, hint: null }], configuration.files);
  }
}

/** Where in routes.yaml something stands that could not be compiled; null for any other error. */
function placeOf(error: unknown): { readonly path: (string | number)[]; readonly name: string } | null {
  if (error instanceof StageError)
    return { path: ['chains', error.chain, error.index], name: `chains.${error.chain}[${error.index}]` };
  if (error instanceof RouteError)
    return { path: ['routes', error.index, 'chain'], name: `routes[${error.index}].chain` };
  return null;
}
