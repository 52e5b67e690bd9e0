/** Ids of tool calls as this protocol takes them: of letters, digits, `_` and `-`, and no two alike in a conversation. */
export class ToolIds {
  private readonly used = new Set<string>();
  /** An id as it came → ids of its calls that have no result yet. */
  private readonly open = new Map<string, string[]>();

  call(given: string): string {
    const id = this.unused(wellFormed(given));
    this.used.add(id);
    this.open.set(given, [...(this.open.get(given) ?? []), id]);
    return id;
  }

  result(given: string): string {
    return this.open.get(given)?.shift() ?? wellFormed(given);
  }

  private unused(id: string): string {
    if (!this.used.has(id)) return id;
    for (let count = 2; ; count++) if (!this.used.has(`${id}_${count}`)) return `${id}_${count}`;
  }
}

const longest = 200;

const wellFormed = (id: string): string => id.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, longest) || 'call';
