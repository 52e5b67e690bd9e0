import type { Answer, Frame } from '../contract.ts';

export function byteLength(frames: readonly Frame[]): number {
  return frames.reduce((sum, { bytes }) => sum + Buffer.byteLength(bytes), 0);
}

export function joinFrames(frames: readonly Frame[]): Buffer {
  return Buffer.concat(frames.map(({ bytes }) => (typeof bytes === 'string' ? Buffer.from(bytes) : bytes)));
}

/** The same body in writes of `size` bytes, whatever they cut through. */
export function reframe(answer: Answer, size: number): Answer {
  const body = joinFrames(answer.frames);
  const frames: Frame[] = [];
  for (let start = 0; start < body.length; start += size)
    frames.push({ kind: 'data', bytes: body.subarray(start, start + size) });
  return { ...answer, frames };
}

/** The body's first bytes, with the length of the whole still announced where it is not a stream. */
export function truncate(answer: Answer, length: number, ending: Answer['ending']): Answer {
  const body = joinFrames(answer.frames);
  const frames: Frame[] = [{ kind: 'data', bytes: body.subarray(0, length) }];
  return { ...answer, frames, ending, ...(answer.streamed ? {} : { declaredLength: body.length }) };
}

export function mapText(frame: Frame, change: (text: string) => string): Frame {
  const { bytes } = frame;
  return { ...frame, bytes: change(typeof bytes === 'string' ? bytes : bytes.toString('utf8')) };
}
