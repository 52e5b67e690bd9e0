import { jsonAnswer, nextId, wholeAnswer } from '../../answers.ts';
import type { Answer, Call } from '../../contract.ts';
import { bearerToken } from '../../credentials.ts';
import { ratioValue } from '../../images/measure.ts';
import { defineMemory } from '../../memory.ts';
import { pollVideo, progressOf, startVideo, type VideoTask, videoFile } from '../../videos/tasks.ts';
import { refuseArgument, refuseNotFound } from './errors.ts';
import { readVideoRequest, type VideoRequest } from './videos-request.ts';

type Task = VideoTask<VideoRequest>;

const tasks = defineMemory<Task>(1000);
const SHORT_SIDES: Record<string, number> = { '480p': 480, '720p': 720, '1080p': 1080 };
/** Price of a second in ticks; 10,000,000,000 ticks are 1 USD. */
const TICKS: Record<string, number> = { '480p': 500_000_000, '720p': 700_000_000, '1080p': 1_200_000_000 };

/** `POST /v1/videos/generations` and `GET /v1/videos/{request_id}`. */
export function answerVideos(call: Call): Answer {
  const id = call.path.slice('/v1/videos/'.length);
  if (id === 'generations')
    return call.method === 'POST' ? createVideo(call) : refuseArgument(405, 'Method Not Allowed');
  if (call.method === 'GET' && !id.includes('/')) return answerTask(call, id);
  return refuseNotFound(`The requested resource was not found: ${call.method} ${call.path}`);
}

function createVideo(call: Call): Answer {
  const request = readVideoRequest(call);
  const film = { ...pixelsOf(request), seconds: request.duration };
  const owner = bearerToken(call.headers.authorization);
  const task = startVideo(call, { id: nextId('rq-'), owner, prompt: request.prompt, film, facts: request });
  tasks(call).set(task.id, task);
  return jsonAnswer(200, { request_id: task.id });
}

function pixelsOf({ aspectRatio, resolution }: VideoRequest): { width: number; height: number } {
  const short = SHORT_SIDES[resolution]!;
  const ratio = ratioValue(aspectRatio);
  const even = (side: number): number => Math.round(side / 2) * 2;
  return ratio >= 1 ? { width: even(short * ratio), height: short } : { width: short, height: even(short / ratio) };
}

/** 202 while pending: without a body at the first poll, with the progress later. */
function answerTask(call: Call, id: string): Answer {
  const task = tasks(call).get(id);
  if (!task || task.owner !== bearerToken(call.headers.authorization))
    return refuseNotFound('The requested video was not found');
  pollVideo(task, call);
  if (task.finished !== undefined) return jsonAnswer(200, resultOf(task, call));
  if (task.polls === 1) return wholeAnswer(202, {}, []);
  return jsonAnswer(202, { status: 'pending', progress: progressOf(task) });
}

/** Blocked videos are done without a URL (`safety`), or failed by name (`some`). */
function resultOf(task: Task, call: Call): object {
  const { ending, facts } = task;
  if (ending === 'expired') return { status: 'expired' };
  if (ending === 'error') return failed('internal_error', 'Video generation failed. Please retry.');
  if (ending === 'some' || ending === 'prompt') return failed('content_moderation', 'Generated video rejected');
  const usage = call.fault.nousage ? {} : { usage: { cost_in_usd_ticks: TICKS[facts.resolution]! * facts.duration } };
  const done = { status: 'done', progress: 100, model: facts.model, ...usage };
  if (ending === 'noimage') return done;
  if (ending === 'safety') return { ...done, video: { duration: facts.duration, respect_moderation: false } };
  const url = `${call.origin}/xai/files/${task.id}.mp4`;
  return { ...done, video: { url, duration: facts.duration, respect_moderation: true } };
}

const failed = (code: string, message: string): object => ({ status: 'failed', error: { code, message } });

/** `GET /files/{request_id}.mp4`, which needs no credential; undefined for what is no video of this simulator. */
export function answerVideoFile(call: Call): Answer | undefined {
  const id = /^\/files\/([^/]+)\.mp4$/.exec(call.path)?.[1];
  const task = id === undefined ? undefined : tasks(call).get(id);
  if (task?.finished === undefined || task.ending !== 'done') return undefined;
  return wholeAnswer(200, { 'content-type': 'video/mp4' }, call.method === 'HEAD' ? [] : videoFile(task, call));
}
