/** What a message or a delta says, as events. */
import { type ChatEvent, isObject, type JsonObject, type JsonValue } from '../../../engine/plugin.ts';
import { vendorSignatures } from './reasoning-details.ts';

export function saidEvents(choice: number, said: JsonObject): ChatEvent[] {
  const events: ChatEvent[] = [];
  const reasoning = textOf(said.reasoning_content) || textOf(said.reasoning);
  if (reasoning !== '') events.push({ type: 'reasoning', choice, text: reasoning });
  for (const signature of vendorSignatures(said.reasoning_details))
    events.push({ type: 'reasoning', choice, text: '', signature });
  const text = textOf(said.content);
  if (text !== '') events.push({ type: 'text', choice, text });
  const refusal = textOf(said.refusal);
  if (refusal !== '') events.push({ type: 'refusal', choice, text: refusal });
  if (Array.isArray(said.images)) events.push(...said.images.flatMap((image) => imageEvents(choice, image)));
  return events;
}

/** Some vendors answer text parts in place of a string. */
function textOf(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return '';
  return value.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('');
}

/** Vendors whose chat models draw put pictures beside the text, as data URLs. */
function imageEvents(choice: number, value: JsonValue): ChatEvent[] {
  const url = isObject(value) && isObject(value.image_url) ? value.image_url.url : null;
  if (typeof url !== 'string') return [];
  const comma = url.indexOf(',');
  const head = /^data:([\w.+-]+\/[\w.+-]+)(?:;[^,]*)?;base64$/i.exec(url.slice(0, Math.max(0, Math.min(comma, 200))));
  return head === null ? [] : [{ type: 'image', choice, mediaType: head[1]!, data: url.slice(comma + 1) }];
}
