import { eventFrame, streamAnswer } from '../../answers.ts';
import type { Answer, Call, Frame } from '../../contract.ts';
import { DONE } from './chat-answer.ts';
import { openaiHeaders } from './errors.ts';
import { logprobOf, segmentId, speakerOf, type Transcript, tokenUsage, transcribe } from './transcript.ts';
import { writeTranscript } from './transcript-formats.ts';
import { DIARIZE, readTranscription, readTranslation } from './transcription-request.ts';

/** `POST /v1/audio/transcriptions`; `stream` is ignored for whisper-1. */
export function answerTranscription(call: Call): Answer {
  const request = readTranscription(call);
  const transcript = transcribe(request);
  if (request.stream && request.model !== 'whisper-1') return streamTranscript(transcript, call);
  return writeTranscript(transcript, 'transcribe', call);
}

/** `POST /v1/audio/translations`: to English, whisper-1 only, never streamed. */
export function answerTranslation(call: Call): Answer {
  return writeTranscript(transcribe(readTranslation(call)), 'translate', call);
}

/** Deltas, for diarization each with its segment, then the whole text. */
function streamTranscript({ request, reply, cues, steering }: Transcript, call: Call): Answer {
  const diarize = request.model === DIARIZE;
  const frames = cues.flatMap(({ text, start, end }, index): Frame[] => {
    const id = segmentId(index);
    const logprobs = request.include ? { logprobs: [logprobOf(text)] } : {};
    const delta = { type: 'transcript.text.delta', delta: text, ...(diarize ? { segment_id: id } : {}), ...logprobs };
    if (!diarize) return [eventFrame(undefined, delta)];
    const speaker = speakerOf(request, index);
    const segment = { type: 'transcript.text.segment', id, start, end, text, speaker };
    return [eventFrame(undefined, delta), eventFrame(undefined, segment)];
  });
  const done = {
    type: 'transcript.text.done',
    text: reply.text,
    ...(request.include ? { logprobs: reply.pieces.map(logprobOf) } : {}),
    ...(call.fault.nousage ? {} : { usage: tokenUsage(request, reply) }),
  };
  return streamAnswer([...frames, eventFrame(undefined, done), DONE], steering.delay, openaiHeaders());
}
