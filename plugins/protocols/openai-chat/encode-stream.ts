/** Events as chunks (spec 6.2): role first, then deltas, the finish, and the usage where the client asked for it. */
import {
  type ChatCall,
  type ChatEvent,
  ChunkWriter,
  type JsonObject,
  openAiStreamError,
  type StreamEncoder,
  writeFinish,
} from '../../../engine/plugin.ts';
import { encodeImage, encodeSignature } from './encode-extension.ts';

type DeltaEvent = Exclude<ChatEvent, { type: 'start' | 'finish' | 'usage' | 'error' }>;

export function encodeStream(call: ChatCall): StreamEncoder {
  const writer = new ChunkWriter(call, 'chat.completion.chunk', 'chatcmpl-');
  const delta = (index: number, said: JsonObject, reason: string | null = null) =>
    writer.chunk({ index, delta: said, logprobs: null, finish_reason: reason });
  const role = (choice: number, content: string | null) =>
    writer.opens(choice) ? delta(choice, { role: 'assistant', content, refusal: null }) : '';
  const encode = (event: ChatEvent): string => {
    switch (event.type) {
      case 'start':
        // Nothing is written yet: a vendor that fails right after it can still be replaced by another.
        writer.start(event);
        return '';
      case 'finish':
        return (
          role(event.choice, '') + delta(event.choice, {}, writeFinish(event.reason)) + writer.closes(event.choice)
        );
      case 'usage':
        return writer.takes(event.usage);
      case 'error':
        return '';
      default:
        return role(event.choice, event.type === 'tool-call' ? null : '') + delta(event.choice, encodeDelta(event));
    }
  };
  return { encode, end: () => 'data: [DONE]\n\n', encodeError: openAiStreamError };
}

function encodeDelta(event: DeltaEvent): JsonObject {
  switch (event.type) {
    case 'text':
      return { content: event.text };
    case 'reasoning':
      return { reasoning_content: event.text };
    case 'refusal':
      return { refusal: event.text };
    case 'image':
      return { images: [encodeImage(event)] };
    case 'tool-call':
      return { tool_calls: [encodeCall(event)] };
    case 'tool-arguments':
      return { tool_calls: [{ index: event.index, function: { arguments: event.text } }] };
  }
}

function encodeCall({ index, id, name, signature }: Extract<ChatEvent, { type: 'tool-call' }>): JsonObject {
  return { index, id, type: 'function', function: { name, arguments: '' }, ...encodeSignature(signature) };
}
