/** The events of a vendor that streams images. */
import type { ImageEvent } from '../../contract/image.ts';
import type { SseFrame } from '../../contract/wire.ts';
import type { Answer } from '../../upstream/answer.ts';
import { malformed } from '../../upstream/failure.ts';
import { SseReader } from '../../wire/sse.ts';
import { AttemptFailed } from '../attempt-failure.ts';

/** Read as fast as they are asked for. Throws AttemptFailed for a frame that never ends. */
export async function* vendorEvents(
  answer: Answer,
  decode: (frame: SseFrame) => ImageEvent[],
): AsyncGenerator<ImageEvent> {
  const reader = new SseReader();
  for await (const chunk of answer) {
    for (const frame of framesOf(reader, chunk)) yield* decode(frame);
  }
  for (const frame of reader.end()) yield* decode(frame);
}

function framesOf(reader: SseReader, chunk: Buffer): ReturnType<SseReader['push']> {
  try {
    return reader.push(chunk);
  } catch (error) {
    throw new AttemptFailed(malformed(error instanceof Error ? error.message : String(error)));
  }
}
