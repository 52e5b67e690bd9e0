/** Which tools of a request take plain text: their calls go back to the client as such. */
import { type ChatCall, isObject } from '../../../engine/plugin.ts';

const none: ReadonlySet<string> = new Set();

export function customToolNames({ body }: ChatCall): ReadonlySet<string> {
  const { tools } = body;
  if (!Array.isArray(tools)) return none;
  const names = tools.flatMap((tool) =>
    isObject(tool) && tool.type === 'custom' && isObject(tool.custom) ? tool.custom.name : [],
  );
  return names.length === 0 ? none : new Set(names.filter((name) => typeof name === 'string'));
}
