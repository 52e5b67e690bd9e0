/** One question, one answer: embeddings, rerank, moderations, audio. */
import { form, json, type RouteEntry } from '../entry.ts';

const errors = 'OpenAiError';
const texts = { 'application/json': 'Transcription', 'text/plain': 'TranscriptText' };

export const directEntries: readonly RouteEntry[] = [
  {
    operation: 'embeddings',
    protocols: ['openai-embeddings'],
    id: 'createEmbeddings',
    tag: 'Embeddings',
    summary: 'Text embeddings',
    description: 'Turns texts into vectors.',
    request: json('EmbeddingsRequest'),
    example: { model: '', input: ['A red fox', 'A kite'], dimensions: 3 },
    replies: json('EmbeddingsReply'),
    errors,
  },
  {
    operation: 'rerank',
    protocols: ['rerank', 'cohere-rerank', 'jina-rerank'],
    id: 'rerank',
    tag: 'Rerank',
    summary: 'Document reranking',
    description: 'Puts documents in the order in which they fit a query.',
    request: json('RerankRequest'),
    example: { model: '', query: 'capital of Norway', documents: ['Oslo is the capital.', 'Bergen is a city.'] },
    replies: json('RerankReply'),
    errors,
  },
  {
    operation: 'moderations',
    protocols: ['openai-moderations'],
    id: 'createModeration',
    tag: 'Moderations',
    summary: 'Content classification',
    description: 'Tells what a text or an image contains that should not be there.',
    request: json('ModerationRequest'),
    example: { model: '', input: 'What a nice day' },
    replies: json('ModerationReply'),
    errors,
  },
  {
    operation: 'audio.transcriptions',
    protocols: ['openai-transcriptions'],
    id: 'createTranscription',
    tag: 'Audio',
    summary: 'Speech to text',
    description:
      'Writes down what is said. With `stream=true` each event is a line `data: <event>`; the last one is `transcript.text.done`.',
    request: form('TranscriptionForm'),
    example: { model: '', file: '@hello.wav' },
    replies: { ...texts, 'text/event-stream': 'TranscriptionEvent' },
    errors,
  },
  {
    operation: 'audio.translations',
    protocols: ['openai-translations'],
    id: 'createTranslation',
    tag: 'Audio',
    summary: 'Audio translation',
    description: 'Writes down in English what is said.',
    request: form('TranslationForm'),
    example: { model: '', file: '@hello.wav' },
    replies: texts,
    errors,
  },
  {
    operation: 'audio.speech',
    protocols: ['openai-speech'],
    id: 'createSpeech',
    tag: 'Audio',
    summary: 'Text to speech',
    description:
      'Says a text. The bytes come as they are made; with `stream_format: sse` they come as events, the last of which is `speech.audio.done`.',
    request: json('SpeechRequest'),
    example: { model: '', input: 'Hello', voice: 'alloy' },
    replies: { 'audio/*': 'SpeechBytes', 'text/event-stream': 'SpeechEvent' },
    errors,
  },
];
