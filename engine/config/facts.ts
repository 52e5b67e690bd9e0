/** What a configuration says about one named thing, ready to be compared and to be told. */
export interface Fact {
  /** Equal exactly where nothing changed. Never told: it may hold a secret. */
  readonly identity: string;
  /** Null: only that it changed may be told. */
  readonly shown: string | null;
}

export type Facts = Readonly<Record<string, Fact>>;

export const shown = (value: string | number | boolean | null): Fact => {
  const text = value === null ? 'none' : String(value);
  return { identity: text, shown: text };
};

export const hidden = (value: unknown): Fact => ({ identity: JSON.stringify(value) ?? '', shown: null });

const missing = shown(null);

const namesOf = (before: object, after: object): string[] => [
  ...new Set([...Object.keys(before), ...Object.keys(after)]),
];

/** `0.20 → 0.25` or `changed`; null where nothing changed. */
export function compareFacts(before: Fact = missing, after: Fact = missing): string | null {
  if (before.identity === after.identity) return null;
  return before.shown === null || after.shown === null ? 'changed' : `${before.shown} → ${after.shown}`;
}

/** `weight of c2 1 → 3` */
function compareThing(name: string, before: Facts, after: Facts): string[] {
  return namesOf(before, after).flatMap((key) => {
    const change = compareFacts(before[key], after[key]);
    return change === null ? [] : [`${key} of ${name} ${change}`];
  });
}

export type Things = Readonly<Record<string, Facts>>;

/** `models: +beta-4-image, -old, price of alpha-image-1k 0.20 → 0.25`; null where nothing changed. */
export function compareThings(title: string, before: Things, after: Things): string | null {
  const words = namesOf(before, after).flatMap((name) => {
    const [old, current] = [before[name], after[name]];
    if (old === undefined) return [`+${name}`];
    return current === undefined ? [`-${name}`] : compareThing(name, old, current);
  });
  return words.length === 0 ? null : `${title}: ${words.join(', ')}`;
}
