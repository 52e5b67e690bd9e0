/** Speech of any length. */
import type uWS from 'uWebSockets.js';
import { asked } from './stream.ts';

const piece = Buffer.alloc(64 * 1024, 0x5a);

export const transcription = '{"text":"A few words.","usage":{"type":"duration","seconds":60}}';

/** Written as fast as the other side reads. */
export function speak(response: uWS.HttpResponse, body: string): void {
  const total = asked(body, 'bytes', piece.length);
  let gone = false;
  const pump = (): boolean => {
    for (;;) {
      const offset = response.getWriteOffset();
      const [fits, done] = response.tryEnd(piece.subarray(0, Math.min(piece.length, total - offset)), total);
      if (done || !fits) return fits;
    }
  };
  response.onAborted(() => {
    gone = true;
  });
  response.onWritable(() => gone || pump());
  response.cork(() => {
    response.writeHeader('content-type', 'audio/mpeg');
    pump();
  });
}
