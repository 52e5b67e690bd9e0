/** Events as `text_completion` chunks. */
import {
  type ChatCall,
  type ChatEvent,
  ChunkWriter,
  openAiStreamError,
  type StreamEncoder,
} from '../../../engine/plugin.ts';
import { shownFinish, shownText } from './shown.ts';

export function encodeStream(call: ChatCall): StreamEncoder {
  const writer = new ChunkWriter(call, 'text_completion', 'cmpl-');
  const chunk = (index: number, text: string, reason: string | null) =>
    writer.chunk({ text, index, logprobs: null, finish_reason: reason });
  const encode = (event: ChatEvent): string => {
    if (event.type === 'start') writer.start(event);
    if (event.type === 'usage') writer.usage = event.usage;
    if (event.type === 'start' || event.type === 'usage' || event.type === 'error') return '';
    if (event.type === 'finish') return chunk(event.choice, '', shownFinish(event.reason));
    const text = shownText(event);
    return text === '' ? '' : chunk(event.choice, text, null);
  };
  return { encode, end: () => writer.end(), encodeError: openAiStreamError };
}
