/** Everything that ships with the gateway: the only registration. */
import type { Registry } from '../engine/plugin.ts';
import auth from './auth/auth.ts';
import billing from './billing/billing.ts';
import conflicts from './conflicts/conflicts.ts';
import alpha from './families/alpha.ts';
import beta from './families/beta.ts';
import gamma from './families/gamma.ts';
import passthrough from './families/passthrough.ts';
import video from './families/video.ts';
import idempotency from './idempotency/idempotency.ts';
import limits from './limits/limits.ts';
import anthropicMessages from './protocols/anthropic-messages.ts';
import cohereRerank from './protocols/cohere-rerank.ts';
import compatVideos from './protocols/compat-videos.ts';
import geminiEmbeddings from './protocols/gemini-embeddings.ts';
import geminiGenerate from './protocols/gemini-generate.ts';
import geminiImages from './protocols/gemini-images.ts';
import geminiVideos from './protocols/gemini-videos.ts';
import jinaRerank from './protocols/jina-rerank.ts';
import openaiChat from './protocols/openai-chat.ts';
import openaiCompletions from './protocols/openai-completions.ts';
import openaiEmbeddings from './protocols/openai-embeddings.ts';
import openaiImages from './protocols/openai-images.ts';
import openaiModerations from './protocols/openai-moderations.ts';
import openaiRealtime from './protocols/openai-realtime.ts';
import openaiResponsesCompact from './protocols/openai-responses/compact.ts';
import openaiResponses from './protocols/openai-responses.ts';
import openaiSpeech from './protocols/openai-speech.ts';
import openaiTranscriptions from './protocols/openai-transcriptions.ts';
import openaiTranslations from './protocols/openai-translations.ts';
import openaiVideos from './protocols/openai-videos.ts';
import rerank from './protocols/rerank.ts';
import xaiImages from './protocols/xai-images.ts';
import xaiVideos from './protocols/xai-videos.ts';
import storage from './storage/storage.ts';
import anthropic from './vendors/anthropic.ts';
import cohere from './vendors/cohere.ts';
import gemini from './vendors/gemini.ts';
import jina from './vendors/jina.ts';
import openai from './vendors/openai.ts';
import xai from './vendors/xai.ts';

export const builtIns: Registry = {
  plugins: [auth, limits, idempotency, conflicts, billing, storage],
  normalizers: [alpha, beta, gamma, passthrough, video],
  vendors: [openai, anthropic, gemini, xai, cohere, jina],
  protocols: [
    openaiChat,
    openaiCompletions,
    openaiResponses,
    openaiResponsesCompact,
    anthropicMessages,
    geminiGenerate,
    openaiImages,
    openaiRealtime,
    geminiImages,
    xaiImages,
    openaiVideos,
    compatVideos,
    geminiVideos,
    xaiVideos,
    openaiEmbeddings,
    geminiEmbeddings,
    rerank,
    cohereRerank,
    jinaRerank,
    openaiModerations,
    openaiTranscriptions,
    openaiTranslations,
    openaiSpeech,
  ],
};
