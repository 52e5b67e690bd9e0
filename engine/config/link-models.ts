/** models.yaml: families and models with their rules, prices and limits. */
import type { ModelsFile } from '../../schemas/types/models.ts';
import type { Family, Model } from '../contract/model.ts';
import type { LimitSettings } from '../contract/ports.ts';
import type { JsonObject } from '../contract/values.ts';
import type { NormalizerDefinition, Registry } from '../plugin.ts';
import type { Faults } from './collect.ts';
import { checkPrice } from './price.ts';
import type { SourceFile } from './read.ts';
import { linkRules } from './rules.ts';
import { parseDate } from './units.ts';

type FamilyEntry = ModelsFile['families'][string];
type ModelEntry = ModelsFile['models'][string];

interface LinkedFamily {
  readonly family: Family;
  readonly entry: FamilyEntry;
  readonly normalizer: NormalizerDefinition;
}

export function linkLimits(limits: Partial<LimitSettings> | undefined): LimitSettings | null {
  if (limits === undefined) return null;
  const { requestsPerMinute = null, tokensPerMinute = null, concurrency = null } = limits;
  return { requestsPerMinute, tokensPerMinute, concurrency };
}

function linkFamilies(source: SourceFile, file: ModelsFile, registry: Registry, faults: Faults) {
  const families = new Map<string, LinkedFamily>();
  for (const [name, entry] of Object.entries(file.families)) {
    const normalizer = registry.normalizers.find((candidate) => candidate.name === entry.normalizer);
    if (normalizer === undefined) {
      const known = registry.normalizers.map((candidate) => candidate.name);
      faults.addUnknown(source, ['families', name, 'normalizer'], 'normalizer', known);
      continue;
    }
    families.set(name, {
      family: { name, normalizer: normalizer.name, operations: entry.operations },
      entry,
      normalizer,
    });
    const familyRules = entry.rules as JsonObject;
    linkRules(normalizer, { source, family: name, familyRules, model: null }, faults);
  }
  return families;
}

function checkOperations(source: SourceFile, name: string, entry: ModelEntry, family: Family, faults: Faults): void {
  for (const [index, operation] of (entry.operations ?? []).entries()) {
    if (family.operations.includes(operation)) continue;
    const path = ['models', name, 'operations', index];
    faults.add(source, path, `the family ${family.name} cannot be used for it (${family.operations.join(', ')})`);
  }
}

/** A normalizer may refuse rules that its schema cannot express. */
function tryRules(source: SourceFile, model: Model, normalizer: NormalizerDefinition, faults: Faults): void {
  try {
    normalizer.compile(structuredClone(model.rules), model);
  } catch (error) {
    faults.add(source, ['models', model.name, 'rules'], (error as Error).message, { at: 'key' });
  }
}

function linkModel(source: SourceFile, name: string, entry: ModelEntry, linked: LinkedFamily, faults: Faults) {
  const { family, normalizer } = linked;
  checkOperations(source, name, entry, family, faults);
  const own = (entry.operations ?? []).filter((operation) => family.operations.includes(operation));
  const operations = own.length > 0 ? own : family.operations;
  for (const { kind, message } of checkPrice(entry.price, operations)) {
    const path = ['models', name, 'price', ...(kind === null ? [] : [kind])];
    faults.add(source, path, message, { at: 'key' });
  }
  const owner = { name, rules: entry.rules as JsonObject };
  const familyRules = linked.entry.rules as JsonObject;
  const created = parseDate(entry.created);
  if (created === null) faults.add(source, ['models', name, 'created'], 'there is no such day');
  const rules = linkRules(normalizer, { source, family: family.name, familyRules, model: owner }, faults);
  if (rules === null) return null;
  const model: Model = {
    name,
    family,
    rules,
    price: entry.price,
    operations,
    limits: linkLimits(entry.limits),
    ownedBy: entry.ownedBy ?? linked.entry.ownedBy,
    created: (created ?? 0) / 1_000,
    maxOutputTokens: entry.maxOutputTokens ?? null,
  };
  tryRules(source, model, normalizer, faults);
  return model;
}

/** Public name → model, in the order of the file; a model with a fault is missing. */
export function linkModels(source: SourceFile, registry: Registry, faults: Faults): Map<string, Model> {
  const file = source.value as ModelsFile;
  const families = linkFamilies(source, file, registry, faults);
  const models = new Map<string, Model>();
  for (const [name, entry] of Object.entries(file.models)) {
    const linked = families.get(entry.family);
    if (linked === undefined) {
      if (Object.hasOwn(file.families, entry.family)) continue;
      faults.addUnknown(source, ['models', name, 'family'], 'family', Object.keys(file.families));
      continue;
    }
    const model = linkModel(source, name, entry, linked, faults);
    if (model !== null) models.set(name, model);
  }
  return models;
}
