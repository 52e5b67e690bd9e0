/** Operators' own plugins: modules named in routes.yaml, whose default export is one definition or a list of them. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { JsonSchema } from '../contract/values.ts';
import type { Registry } from '../plugin.ts';
import type { Faults } from './collect.ts';
import { formatPath } from './fault.ts';
import { normalizeStage } from './link-chains.ts';
import type { SourceFile } from './read.ts';
import { compileSchema } from './validate.ts';

type Shape = Readonly<Record<string, unknown>>;
type Kind = keyof Registry;

const isShape = (value: unknown): value is Shape => typeof value === 'object' && value !== null;

/** Told apart by what each must have. */
function kindOf(definition: Shape): Kind | null {
  if (typeof definition.create === 'function') return 'plugins';
  if (typeof definition.compile === 'function') return 'normalizers';
  if (isShape(definition.speaks)) return 'vendors';
  return Object.hasOwn(actionsOf, String(definition.kind)) ? 'protocols' : null;
}

function checkSchema(schema: unknown, what: string): string | null {
  if (!isShape(schema)) return `has no schema "${what}"`;
  if (schema.additionalProperties !== false) return `its schema "${what}" must be closed (additionalProperties: false)`;
  try {
    compileSchema(schema as JsonSchema);
    return null;
  } catch (error) {
    return `its schema "${what}" is wrong: ${(error as Error).message}`;
  }
}

const texts = { type: 'array', items: { type: 'string' } } as const;
const headerNames = {
  type: 'array',
  items: { type: 'string', pattern: '^[a-z0-9-]+$', 'x-expected': 'a header name in lower case' },
} as const;
const headers = { type: 'object', additionalProperties: { type: 'string' } } as const;

const failures = {
  type: 'array',
  items: {
    type: 'object',
    properties: { status: { type: ['integer', 'array'] }, code: { type: ['string', 'array'] } },
  },
} as const;

/** What may be left out, but must be right where it is there. */
const shapes: Readonly<Partial<Record<Kind, JsonSchema>>> = {
  plugins: { type: 'object', properties: { requires: texts, headers: headerNames } },
  vendors: { type: 'object', properties: { headers, failures } },
};

function checkMembers(definition: Shape, kind: Kind): string | null {
  const [problem] = compileSchema(shapes[kind] ?? {})(definition);
  return problem === undefined ? null : `its "${formatPath(problem.path)}" ${problem.message}`;
}

const reasons = ['connect', 'reset', 'timeout', 'malformed', 'credential', 'moderation', 'no-image', 'status'];
/** kind → actions; the first number of them must be there. */
const actionsOf = {
  chat: ['whole', 'stream', 'count', 'stored'],
  image: ['generate', 'edit'],
  direct: ['call'],
  video: ['create', 'poll', 'content'],
  realtime: ['connect'],
} as const;
const neededOf = { chat: 2, image: 0, direct: 1, video: 2, realtime: 1 } as const;

/** The paths under which a vendor speaks one protocol. Which actions there are is known once the protocol is. */
function checkPaths(protocol: string, paths: unknown, registry: Registry): string | null {
  if (!isShape(paths)) return `its "speaks" needs paths for ${protocol}`;
  const known = registry.protocols.find((one) => one.name === protocol);
  const actions: readonly string[] = known === undefined ? Object.keys(paths) : actionsOf[known.kind];
  const wrong = Object.keys(paths).find((action) => !actions.includes(action));
  if (wrong !== undefined) return `${protocol} has no action "${wrong}": use ${actions.join(', ')}`;
  const needed = known === undefined ? [] : actions.slice(0, neededOf[known.kind]);
  const missing = needed.find((action) => paths[action] === undefined);
  if (missing !== undefined) return `its "speaks" lacks the path "${missing}" of ${protocol}`;
  const relative = Object.values(paths).find((path) => typeof path !== 'string' || !path.startsWith('/'));
  return relative === undefined ? null : `the path "${String(relative)}" of ${protocol} must start with a slash`;
}

function checkVendor(vendor: Shape, registry: Registry): string | null {
  if (typeof vendor.baseUrl !== 'string' || !URL.canParse(vendor.baseUrl)) return 'its "baseUrl" is not a URL';
  const auth = vendor.auth as Shape | undefined;
  if (typeof auth?.header !== 'string' || typeof auth.value !== 'string')
    return 'needs "auth" with "header" and "value"';
  if (!auth.value.includes('{credential}')) return 'its "auth.value" must hold {credential}, where the secret stands';
  const failures = (vendor.failures ?? []) as Shape[];
  const unknown = failures.find(({ reason }) => !reasons.includes(String(reason)));
  if (unknown !== undefined) return `"${String(unknown.reason)}" is no reason of a failure: use ${reasons.join(', ')}`;
  if (failures.some(({ text }) => text !== undefined && !(text instanceof RegExp)))
    return 'the "text" of a failure must be a regular expression, such as /house rules/i';
  for (const [protocol, paths] of Object.entries(vendor.speaks as Shape)) {
    const problem = checkPaths(protocol, paths, registry);
    if (problem !== null) return problem;
  }
  return null;
}

/** What is wrong with a definition, in words; null where nothing is. */
function checkDefinition(definition: unknown, registry: Registry): string | null {
  const kind = isShape(definition) ? kindOf(definition) : null;
  if (kind === null || !isShape(definition)) {
    return 'the default export is neither plugin, normalizer, vendor nor protocol, nor a list of them';
  }
  const { name } = definition;
  if (typeof name !== 'string' || !/^[a-z][a-z0-9-]*$/.test(name)) {
    return 'a definition needs a "name" of lower-case letters, digits and dashes';
  }
  const reserved = name === normalizeStage && kind === 'plugins';
  if (reserved || registry[kind].some((other) => other.name === name)) return `the name "${name}" is already taken`;
  if (typeof definition.summary !== 'string') return `${name} needs a "summary"`;
  const members = checkMembers(definition, kind);
  if (members !== null) return `${name}: ${members}`;
  const problem = {
    plugins: () => checkSchema(definition.options, 'options'),
    normalizers: () => checkSchema(definition.rules, 'rules'),
    vendors: () => checkVendor(definition, registry),
    protocols: () => null,
  }[kind]();
  return problem === null ? null : `${name}: ${problem}`;
}

/** The registry with a definition that was found good. */
function add(registry: Registry, definition: Shape): Registry {
  const kind = kindOf(definition);
  return kind === null ? registry : { ...registry, [kind]: [...registry[kind], definition] };
}

/** Definition → digest of the module that it came from. */
const versions = new WeakMap<object, string>();

/** Whether two definitions are one, or come from modules with the same content: a copy in another folder. */
export const isSameDefinition = (left: object, right: object): boolean =>
  left === right || (versions.has(left) && versions.get(left) === versions.get(right));

/** A module that waits at its top level for ever would keep every later reload waiting. */
const longestLoading = 10_000;

async function importWithin(url: string, milliseconds: number): Promise<Shape> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = `it is not ready after ${milliseconds / 1_000} s`;
    timer = setTimeout(() => reject(new Error(message)), milliseconds);
  });
  try {
    return await Promise.race([import(/* @vite-ignore */ url) as Promise<Shape>, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Node keeps every version of a module for good: each change of a plugin's file costs the memory of one copy. */
async function importFresh(path: string): Promise<unknown[]> {
  const version = createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 16);
  const module = await importWithin(`${pathToFileURL(path).href}?version=${version}`, longestLoading);
  const definitions = [module.default].flat();
  for (const definition of definitions) if (isShape(definition)) versions.set(definition, version);
  return definitions;
}

function explain(path: string, error: unknown): string {
  if (!(error instanceof Error)) return `the module throws ${JSON.stringify(error) ?? String(error)}`;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EISDIR') return 'this is a folder, no module';
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION') return `this Node cannot load ${path}: compile it to .js or .mjs`;
  const advice = error instanceof SyntaxError ? ` (node --check ${path} shows where)` : '';
  return `the module cannot be loaded: ${message.split('\n', 1)[0]}${advice}`;
}

/** The absolute paths of the modules that a routes.yaml names. */
export function operatorFiles(source: SourceFile, names: readonly string[]): string[] {
  return names.map((name) => resolve(dirname(source.path), name));
}

/** The built-ins and what the operators' modules add to them. */
export async function loadOperatorPlugins(
  source: SourceFile,
  names: readonly string[],
  builtIns: Registry,
  faults: Faults,
): Promise<Registry> {
  let registry = builtIns;
  for (const [index, path] of operatorFiles(source, names).entries()) {
    const fault = (message: string): void => faults.add(source, ['plugins', index], message);
    try {
      for (const definition of await importFresh(path)) {
        const problem = checkDefinition(definition, registry);
        if (problem === null) registry = add(registry, definition as Shape);
        else fault(problem);
      }
    } catch (error) {
      fault(explain(path, error));
    }
  }
  return registry;
}
