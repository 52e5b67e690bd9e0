import { countTokens } from '../reply-text.ts';
import type { Item } from './conversation.ts';
import type { Plan } from './plan.ts';

const AUDIO_TOKENS_PER_SECOND = 20;

/** What of a response went out: all of it, or less where it was cancelled. */
export interface Progress {
  text: string;
  bytes: number;
  /** The item that is being sent. */
  item?: Item | undefined;
}

/** Cached tokens are counted as text first, then as sound, then as images. */
export function usageOf({ input, steering, secondsPerByte }: Plan, { text, bytes }: Progress): unknown {
  const asked = input.text + input.audio + input.image;
  const cached = Math.min(steering.cached, asked);
  const cachedText = Math.min(cached, input.text);
  const cachedAudio = Math.min(cached - cachedText, input.audio);
  const said = countTokens(text);
  const sound = Math.ceil(bytes * secondsPerByte * AUDIO_TOKENS_PER_SECOND);
  return {
    total_tokens: asked + said + sound,
    input_tokens: asked,
    output_tokens: said + sound,
    input_token_details: {
      text_tokens: input.text,
      audio_tokens: input.audio,
      image_tokens: input.image,
      cached_tokens: cached,
      cached_tokens_details: {
        text_tokens: cachedText,
        audio_tokens: cachedAudio,
        image_tokens: cached - cachedText - cachedAudio,
      },
    },
    output_token_details: { text_tokens: said, audio_tokens: sound },
  };
}
