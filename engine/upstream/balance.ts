/** Pure pickers: which channel is tried next. */

export interface Weighted {
  readonly weight: number;
}

/**
 * One of the candidates by weight, or null when none is eligible. `random` in [0, 1). Candidates of weight 0 are taken
 * only when no other of their tier is left.
 */
export function pickWeighted<T extends Weighted>(
  candidates: readonly T[],
  eligible: (candidate: T) => boolean,
  random: () => number,
): T | null {
  if (candidates.length === 1) return eligible(candidates[0]!) ? candidates[0]! : null;
  const open = candidates.filter(eligible);
  const total = open.reduce((sum, candidate) => sum + candidate.weight, 0);
  if (total === 0) return open[0] ?? null;
  let point = random() * total;
  for (const candidate of open) {
    point -= candidate.weight;
    if (point < 0) return candidate;
  }
  return open.at(-1) ?? null;
}
