/** The chains of routes.yaml: stages with their options checked, in an order that every plugin agrees with. */
import type { RoutesFile } from '../../schemas/types/routes.ts';
import type { Stage } from '../contract/model.ts';
import type { JsonObject } from '../contract/values.ts';
import type { Registry } from '../plugin.ts';
import type { Faults } from './collect.ts';
import type { Path } from './fault.ts';
import type { SourceFile } from './read.ts';
import { compileSchema } from './validate.ts';

/** The stage that runs the normalizer of the model's family; no plugin may take the name. */
export const normalizeStage = 'normalize';

type StageEntry = RoutesFile['chains'][string][number];

export interface ChainLinks {
  readonly source: SourceFile;
  readonly registry: Registry;
  readonly faults: Faults;
}

function linkOptions(links: ChainLinks, path: Path, name: string, written: JsonObject): JsonObject {
  const options = structuredClone(written);
  const plugin = links.registry.plugins.find((candidate) => candidate.name === name);
  if (plugin === undefined) {
    if (Object.keys(written).length > 0) links.faults.add(links.source, path, `${name} has no options`, { at: 'key' });
    return options;
  }
  for (const problem of compileSchema(plugin.options)(options)) {
    const { message, hint, at } = problem;
    links.faults.add(links.source, [...path, ...problem.path], message, { hint, at });
  }
  return options;
}

function linkStage(links: ChainLinks, path: Path, entry: StageEntry): Stage {
  const [plugin, written] = typeof entry === 'string' ? [entry, null] : (Object.entries(entry)[0] ?? ['', null]);
  const place = typeof entry === 'string' ? path : [...path, plugin];
  const known = [...links.registry.plugins.map((candidate) => candidate.name), normalizeStage];
  if (!known.includes(plugin)) {
    const at = typeof entry === 'string' ? 'value' : 'key';
    links.faults.addUnknown(links.source, place, 'plugin', known, { at });
    return { plugin, options: {} };
  }
  return { plugin, options: linkOptions(links, place, plugin, (written ?? {}) as JsonObject) };
}

function checkOrder(links: ChainLinks, name: string, stages: readonly Stage[]): void {
  const names = stages.map((stage) => stage.plugin);
  for (const [index, { plugin }] of stages.entries()) {
    const path = ['chains', name, index];
    if (names.indexOf(plugin) < index) {
      links.faults.add(links.source, path, `${plugin} stands in the chain twice`);
      continue;
    }
    const requires = links.registry.plugins.find((candidate) => candidate.name === plugin)?.requires ?? [];
    for (const required of requires.filter((other) => !names.slice(0, index).includes(other))) {
      const late = names.includes(required);
      const message = late ? `${plugin} must stand after ${required}` : `${plugin} needs ${required} before it`;
      links.faults.add(links.source, path, message);
    }
  }
}

/** Name → stages, options with defaults filled in. */
export function linkChains(links: ChainLinks): Map<string, readonly Stage[]> {
  const chains = new Map<string, readonly Stage[]>();
  for (const [name, entries] of Object.entries((links.source.value as RoutesFile).chains)) {
    const stages = entries.map((entry, index) => linkStage(links, ['chains', name, index], entry));
    checkOrder(links, name, stages);
    chains.set(name, stages);
  }
  return chains;
}
