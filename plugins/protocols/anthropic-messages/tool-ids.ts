/** Ids of tool calls as this protocol takes them: of letters, digits, `_` and `-`, and no two alike in a conversation. */
export class ToolIds {
  private readonly used = new Set<string>();
  /** The number that is tried next behind an id that is used. */
  private readonly numbers = new Map<string, number>();
  /** An id as it came → ids of its calls, and how many of them have a result. */
  private readonly calls = new Map<string, { readonly ids: string[]; answered: number }>();

  call(given: string): string {
    const id = this.unused(wellFormed(given));
    this.used.add(id);
    const known = this.calls.get(given);
    if (known === undefined) this.calls.set(given, { ids: [id], answered: 0 });
    else known.ids.push(id);
    return id;
  }

  result(given: string): string {
    const known = this.calls.get(given);
    if (known === undefined || known.answered === known.ids.length) return wellFormed(given);
    return known.ids[known.answered++]!;
  }

  private unused(id: string): string {
    if (!this.used.has(id)) return id;
    let number = this.numbers.get(id) ?? 2;
    while (this.used.has(`${id}_${number}`)) number++;
    this.numbers.set(id, number + 1);
    return `${id}_${number}`;
  }
}

const longest = 200;

const wellFormed = (id: string): string => id.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, longest) || 'call';
