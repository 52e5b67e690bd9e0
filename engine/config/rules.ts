/** A family's rules with a model's own laid over them, checked against the normalizer's schema. */
import type { JsonObject, JsonValue } from '../contract/values.ts';
import type { NormalizerDefinition } from '../plugin.ts';
import type { Faults } from './collect.ts';
import type { Path } from './fault.ts';
import type { SourceFile } from './read.ts';
import { compileSchema, type Problem } from './validate.ts';

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Objects are merged, anything else replaces. Shares nothing with its inputs. */
function overlay(base: JsonObject, upper: JsonObject): JsonObject {
  const merged = structuredClone(base);
  for (const [key, value] of Object.entries(upper)) {
    const below = merged[key];
    merged[key] = isObject(below) && isObject(value) ? overlay(below, value) : structuredClone(value);
  }
  return merged;
}

function has(value: unknown, path: Path): boolean {
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return false;
    value = (value as Record<string | number, unknown>)[part];
  }
  return path.length > 0;
}

export interface RulesOwner {
  readonly source: SourceFile;
  readonly family: string;
  readonly familyRules: JsonObject;
  /** Null: the family itself is checked, which no model uses yet and which may be incomplete. */
  readonly model: { readonly name: string; readonly rules: JsonObject } | null;
}

/** Where a problem of merged rules was written. */
function placeOf(owner: RulesOwner, problem: Problem): Path {
  const family = ['families', owner.family, 'rules', ...problem.path];
  if (owner.model === null) return family;
  const model = ['models', owner.model.name, 'rules', ...problem.path];
  if (has(owner.model.rules, problem.path)) return model;
  return has(owner.familyRules, problem.path) ? family : model;
}

/** Answers the rules with defaults filled in; null where there was a fault. */
export function linkRules(normalizer: NormalizerDefinition, owner: RulesOwner, faults: Faults): JsonObject | null {
  const rules = overlay(owner.familyRules, owner.model?.rules ?? {});
  const found = compileSchema(normalizer.rules)(rules);
  const problems = owner.model === null ? found.filter((problem) => problem.keyword !== 'required') : found;
  for (const problem of problems) {
    faults.add(owner.source, placeOf(owner, problem), problem.message, { hint: problem.hint, at: problem.at });
  }
  return problems.length === 0 ? rules : null;
}
