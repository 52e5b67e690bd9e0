import { VENDORS } from '../vendors/index.ts';
import { type Fault, FaultError, readFault } from './fault.ts';

/** Which requests a rule is for; what is left out matches everything. */
interface FaultMatch {
  vendor?: string;
  /** Part of the path, vendor prefix included: `/images/edits`. */
  path?: string;
  /** Model name without suffix. */
  model?: string;
  /** The rule is used up after this many requests. */
  times?: number;
}

export interface FaultRule {
  match?: FaultMatch;
  fault: Fault;
}

interface FaultTarget {
  readonly vendor: string;
  readonly path: string;
  readonly model: string | undefined;
}

export interface FaultRules {
  /** Adds rules; throws `FaultError` for what cannot be understood. Of several that match, later ones win by setting. */
  add(...rules: FaultRule[]): void;
  clear(): void;
  list(): FaultRule[];
  /** Merges every rule that matches, and counts their use. */
  take(target: FaultTarget): Fault;
  /** Uses up a `reset: now` rule, which fires before the body, and so the model, is known. */
  takeReset(target: Omit<FaultTarget, 'model'>): boolean;
}

export function createFaultRules(): FaultRules {
  let active: { match: FaultMatch; fault: Fault }[] = [];

  const use = (rule: { match: FaultMatch }): void => {
    if (rule.match.times === undefined) return;
    rule.match.times -= 1;
    if (rule.match.times <= 0) active = active.filter((other) => other !== rule);
  };

  return {
    add(...rules) {
      active = [...active, ...rules.map(readRule)];
    },
    clear() {
      active = [];
    },
    list: () => structuredClone(active),
    take(target) {
      if (active.length === 0) return {};
      const matching = active.filter((rule) => matches(rule.match, target));
      matching.forEach(use);
      return Object.assign({}, ...matching.map((rule) => rule.fault)) as Fault;
    },
    takeReset(target) {
      const rule = active.find(({ match, fault }) => {
        return fault.reset === 'now' && match.model === undefined && matches(match, { ...target, model: undefined });
      });
      if (rule) use(rule);
      return rule !== undefined;
    },
  };
}

/** Checks a rule that came from outside and takes a copy of it. */
function readRule(rule: unknown): { match: FaultMatch; fault: Fault } {
  if (typeof rule !== 'object' || rule === null) throw new FaultError('a rule must be an object');
  const { match = {}, fault, ...rest } = rule as Record<string, unknown>;
  refuseUnknown('rule', Object.keys(rest));
  return { match: readMatch(match), fault: readFault(fault) };
}

function readMatch(value: unknown): FaultMatch {
  if (typeof value !== 'object' || value === null) throw new FaultError('match must be an object');
  const { vendor, path, model, times, ...rest } = value as Record<string, unknown>;
  refuseUnknown('match', Object.keys(rest));
  for (const text of [vendor, path, model])
    if (text !== undefined && typeof text !== 'string') throw new FaultError('vendor, path and model are strings');
  const names = VENDORS.map(({ name }) => name);
  if (vendor !== undefined && !names.includes(vendor as string))
    throw new FaultError(`unknown vendor '${vendor}'; known are ${names.join(', ')}`);
  if (times !== undefined && !(Number.isInteger(times) && (times as number) > 0))
    throw new FaultError('times is an integer from 1');
  return { ...(value as FaultMatch) };
}

function refuseUnknown(place: string, names: string[]): void {
  if (names.length > 0) throw new FaultError(`unknown key '${names[0]}' in ${place}`);
}

function matches(match: FaultMatch, target: FaultTarget): boolean {
  return (
    (match.vendor === undefined || match.vendor === target.vendor) &&
    (match.path === undefined || target.path.includes(match.path)) &&
    (match.model === undefined || match.model === target.model)
  );
}
