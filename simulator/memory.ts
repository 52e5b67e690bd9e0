/** What a vendor remembers of one kind; the oldest entries give way to new ones. */
export interface Memory<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): boolean;
  /** Oldest first. */
  values(): Value[];
}

/** Declares a memory of at most `limit` entries; each running simulator has its own. */
export function defineMemory<Value>(limit: number): (call: { readonly run: object }) => Memory<Value> {
  const byRun = new WeakMap<object, Memory<Value>>();
  return ({ run }) => {
    const known = byRun.get(run);
    if (known) return known;
    const memory = createMemory<Value>(limit);
    byRun.set(run, memory);
    return memory;
  };
}

function createMemory<Value>(limit: number): Memory<Value> {
  const entries = new Map<string, Value>();
  return {
    get: (key) => entries.get(key),
    set(key, value) {
      entries.set(key, value);
      if (entries.size > limit) entries.delete(entries.keys().next().value!);
    },
    delete: (key) => entries.delete(key),
    values: () => [...entries.values()],
  };
}
