/** Events of a stream as frames: each has its name, and the same as `type`. */
import type { JsonObject } from '../../../engine/plugin.ts';

export const frame = (type: string, members: JsonObject = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;

export const messageStop = frame('message_stop');
export const ping = frame('ping');
