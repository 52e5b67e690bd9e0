import { jsonAnswer, wholeAnswer } from '../../answers.ts';
import type { Answer, Call } from '../../contract.ts';
import { openaiHeaders } from './errors.ts';
import { logprobOf, segmentId, speakerOf, spread, type Transcript, usageOf } from './transcript.ts';

type Task = 'transcribe' | 'translate';

/** Writes a transcript as the asked `response_format`. */
export function writeTranscript(transcript: Transcript, task: Task, call: Call): Answer {
  const { request, reply, cues } = transcript;
  switch (request.response_format ?? 'json') {
    case 'text':
      return textAnswer(`${reply.text}\n`);
    case 'srt':
      return textAnswer(
        cues.map((cue, index) => `${index + 1}\n${timesOf(cue, ',')}\n${cue.text.trim()}\n\n`).join(''),
      );
    case 'vtt':
      return textAnswer(`WEBVTT\n\n${cues.map((cue) => `${timesOf(cue, '.')}\n${cue.text.trim()}\n\n`).join('')}`);
    case 'verbose_json':
      return jsonAnswer(200, { ...verbose(transcript, task), ...usageOf(transcript, call) }, openaiHeaders());
    case 'diarized_json':
      return jsonAnswer(200, { ...diarized(transcript), ...usageOf(transcript, call) }, openaiHeaders());
    default:
      return jsonAnswer(200, plain(transcript, task, call), openaiHeaders());
  }
}

function textAnswer(text: string): Answer {
  return wholeAnswer(200, { 'content-type': 'text/plain; charset=utf-8', ...openaiHeaders() }, [text]);
}

function plain(transcript: Transcript, task: Task, call: Call): unknown {
  const { request, reply } = transcript;
  if (task === 'translate') return { text: reply.text };
  const logprobs = request.include ? { logprobs: reply.pieces.map(logprobOf) } : {};
  return { text: reply.text, ...logprobs, ...usageOf(transcript, call) };
}

function verbose({ request, reply, cues }: Transcript, task: Task): object {
  const { file, language = 'en', timestamp_granularities: granularities = ['segment'] } = request;
  const segments = cues.map(({ text, start, end }, id) => {
    const tokens = [50_364 + id];
    const scores = { temperature: 0, avg_logprob: -0.3, compression_ratio: 0.8, no_speech_prob: 0.01 };
    return { id, seek: 0, start, end, text, tokens, ...scores };
  });
  const words = spread(reply.text.split(/\s+/), file.seconds).map(({ text: word, ...times }) => ({ word, ...times }));
  return {
    task,
    language: languageName(task === 'translate' ? 'en' : language),
    duration: file.seconds,
    text: reply.text,
    ...(granularities.includes('segment') ? { segments } : {}),
    ...(granularities.includes('word') ? { words } : {}),
  };
}

function diarized({ request, cues }: Transcript): object {
  const segments = cues.map(({ text, start, end }, index) => {
    const speaker = speakerOf(request, index);
    return { type: 'transcript.text.segment', id: segmentId(index), start, end, text, speaker };
  });
  const text = segments.map((segment) => `${segment.speaker}: ${segment.text.trim()}`).join('\n');
  return { task: 'transcribe', duration: request.file.seconds, text, segments };
}

const NAMES = new Intl.DisplayNames(['en'], { type: 'language' });
const languageName = (code: string): string => NAMES.of(code)!.toLowerCase();

/** `00:00:00,000 --> 00:00:02,500`: SRT has a comma before the milliseconds, VTT a dot. */
function timesOf({ start, end }: { start: number; end: number }, mark: ',' | '.'): string {
  const clock = (seconds: number): string =>
    new Date(Math.round(seconds * 1000)).toISOString().slice(11, 23).replace('.', mark);
  return `${clock(start)} --> ${clock(end)}`;
}
