import { type DirectProtocol, defineProtocol, openAiError, readPlainError } from '../../engine/plugin.ts';
import { bytesType, readCall, readReply, shape, tapEvents } from './openai-speech/relay.ts';

/** `/audio/speech`: text in, sound out as it comes, as bytes or as events. */
export default defineProtocol<DirectProtocol>({
  kind: 'direct',
  name: 'openai-speech',
  summary: 'OpenAI text to speech, as sound or as events.',
  operation: 'audio.speech',
  client: { accepts: 'json', readCall, encodeError: openAiError },
  relay: { shape, reply: readReply, events: tapEvents, bytesType, decodeError: readPlainError },
});
