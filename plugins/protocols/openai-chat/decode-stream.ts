/** A vendor's stream as events. */
import { type ChatEvent, decodeChunks, isObject, type SseFrame } from '../../../engine/plugin.ts';
import { saidEvents } from './decode-said.ts';
import { ToolCallReader } from './decode-tool-calls.ts';

export function decodeStream(): (frame: SseFrame) => ChatEvent[] {
  const calls = new ToolCallReader();
  return decodeChunks(({ index, value }) => {
    const delta = isObject(value.delta) ? value.delta : {};
    return [...saidEvents(index, delta), ...calls.read(index, delta.tool_calls)];
  });
}
