import { defineProtocol, transcriptProtocol } from '../../engine/plugin.ts';

/** `/audio/transcriptions`: the form passes with its fields in their order, the answer in the format that was asked for. */
export default defineProtocol(
  transcriptProtocol(
    'openai-transcriptions',
    'OpenAI transcriptions, whole in any format and streamed.',
    'audio.transcriptions',
  ),
);
