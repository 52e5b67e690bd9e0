/** The commands that the demo prints to be pasted. */
import type { Group } from '../contract/model.ts';
import type { Operation } from '../contract/operations.ts';

/** The model that the documents name, or else the first that can be used. */
function modelFor(group: Group, operation: Operation, preferred: string): string | null {
  const usable = [...group.offers.values()].filter(
    ({ model, tiers }) => tiers.length > 0 && model.operations.includes(operation),
  );
  const names = usable.map(({ model }) => model.name);
  return names.includes(preferred) ? preferred : (names[0] ?? null);
}

/** Streamed chat, an image, the model list: one line each. What no model of the group serves is left out. */
export function demoCommands(base: string, key: string, group: Group): string[] {
  const authorization = `-H 'Authorization: Bearer ${key}'`;
  const post = (path: string, body: object) =>
    `curl -sSN ${base}${path} ${authorization} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
  const chat = modelFor(group, 'chat', 'demo-chat');
  const image = modelFor(group, 'images.generate', 'alpha-image-1k');
  const messages = [{ role: 'user', content: 'Say hello.' }];
  return [
    ...(chat === null ? [] : [post('/chat/completions', { model: chat, stream: true, messages })]),
    ...(image === null ? [] : [post('/images/generations', { model: image, prompt: 'A red fox in the snow' })]),
    `curl -sS ${base}/models ${authorization}`,
  ];
}
