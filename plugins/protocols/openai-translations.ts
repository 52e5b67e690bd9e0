import { defineProtocol, transcriptProtocol } from '../../engine/plugin.ts';

/** `/audio/translations`: speech of any language to English text. */
export default defineProtocol(
  transcriptProtocol('openai-translations', 'OpenAI translations of speech to English.', 'audio.translations'),
);
