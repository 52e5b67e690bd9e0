/** The two forms of a stream: events, or one JSON array that is written as it comes. */
import { type ChatCall, eventStream, type StreamForm } from '../../../engine/plugin.ts';
import { asArray } from './fields.ts';

export interface FrameWriter {
  /** One answer of the stream as JSON. */
  frame(json: string): string;
  /** Behind the last frame. */
  end(): string;
}

const events: FrameWriter = { frame: (json) => `data: ${json}\n\n`, end: () => '' };

export function createFrames(call: ChatCall): FrameWriter {
  if (!asArray(call)) return events;
  let begun = false;
  const opening = () => {
    const mark = begun ? ',\r\n' : '[';
    begun = true;
    return mark;
  };
  return { frame: (json) => opening() + json, end: () => (begun ? ']' : '[]') };
}

/** White space says nothing between the elements of an array, a comment between events. */
export const formOf = (call: ChatCall): StreamForm =>
  asArray(call)
    ? { contentType: 'application/json; charset=utf-8', heartbeat: '\n' }
    : { contentType: eventStream, heartbeat: ': ping\n\n' };
