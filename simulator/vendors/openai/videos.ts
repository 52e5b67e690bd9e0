import { jsonAnswer, nextId, wholeAnswer } from '../../answers.ts';
import { checkFields, checkText } from '../../checks.ts';
import type { Answer, Call } from '../../contract.ts';
import { bearerToken } from '../../credentials.ts';
import type { RefusalKind } from '../../faults/fault.ts';
import { defineMemory } from '../../memory.ts';
import { pollVideo, progressOf, startVideo, type VideoEnding, type VideoTask, videoFile } from '../../videos/tasks.ts';
import { jsonBody, openaiError, openaiHeaders, refuse, refuseProblem } from './errors.ts';
import { answerPage } from './page.ts';
import { readVideoRequest, type VideoRequest } from './videos-request.ts';

interface Facts extends VideoRequest {
  readonly remixedFrom: string | null;
}

type Task = VideoTask<Facts>;

const tasks = defineMemory<Task>(1000);
const LIFETIME_SECONDS = 3600;
const BLOCKED = { code: 'moderation_blocked', message: 'Your request was blocked by our moderation system.' };
const BROKEN = { code: 'video_generation_failed', message: 'The video could not be generated. Please try again.' };

const ROUTES: Record<string, (call: Call, id: string) => Answer> = {
  'POST ': (call) => createVideo(call, { ...readVideoRequest(call), remixedFrom: null }),
  'GET ': listVideos,
  'GET :id'(call, id) {
    const task = taskFor(call, id);
    pollVideo(task, call);
    return jsonAnswer(200, describeVideo(task), openaiHeaders());
  },
  'DELETE :id'(call, id) {
    tasks(call).delete(taskFor(call, id).id);
    return jsonAnswer(200, { id, object: 'video.deleted', deleted: true }, openaiHeaders());
  },
  'GET :id/content': answerContent,
  'POST :id/remix': remixVideo,
};

/** Everything below `/v1/videos`. */
export function answerVideos(call: Call): Answer {
  const [, id, rest = ''] = /^\/v1\/videos(?:\/([^/]+))?(\/.*)?$/.exec(call.path) ?? [];
  const route = `${call.method} ${id === undefined ? '' : ':id'}${rest}`;
  if (Object.hasOwn(ROUTES, route)) return ROUTES[route]!(call, id ?? '');
  return refuse(404, { message: `Invalid URL (${call.method} ${call.path})`, code: 'unknown_url' });
}

function createVideo(call: Call, facts: Facts): Answer {
  const [width, height] = facts.size.split('x').map(Number) as [number, number];
  const film = { width, height, seconds: Number(facts.seconds) };
  const task = startVideo(call, { id: nextId('video_'), owner: ownerOf(call), prompt: facts.prompt, film, facts });
  tasks(call).set(task.id, task);
  return jsonAnswer(200, describeVideo(task), openaiHeaders());
}

function remixVideo(call: Call, id: string): Answer {
  const { facts, finished, ending } = taskFor(call, id);
  const body = jsonBody(call);
  refuseProblem(checkFields(body, { prompt: checkText() }, ['prompt'], '', call.fault.lenient));
  if (finished === undefined || ending !== 'done')
    refuse(409, { message: 'Only a completed video can be remixed.', code: 'video_not_ready' });
  return createVideo(call, { ...facts, prompt: body.prompt as string, remixedFrom: id });
}

function listVideos(call: Call): Answer {
  const own = tasks(call)
    .values()
    .filter(({ owner }) => owner === ownerOf(call));
  return answerPage(call, own.map(describeVideo));
}

/** The MP4, or a picture of it, once the video is completed. */
function answerContent(call: Call, id: string): Answer {
  const task = taskFor(call, id);
  const variant = call.query.get('variant') ?? 'video';
  if (!['video', 'thumbnail', 'spritesheet'].includes(variant))
    refuse(400, {
      message: `Invalid value: '${variant}'. Supported values are: 'video', 'thumbnail', and 'spritesheet'.`,
      param: 'variant',
      code: 'invalid_value',
    });
  if (task.finished === undefined || task.ending !== 'done')
    refuse(404, {
      message: 'Video is not ready yet, use GET /v1/videos/{video_id} to check its status.',
      code: 'video_not_ready',
    });
  if (variant === 'video')
    return wholeAnswer(200, { ...openaiHeaders(), 'content-type': 'video/mp4' }, videoFile(task, call));
  const { width, height } = task.film;
  const format = variant === 'thumbnail' ? 'webp' : 'jpeg';
  const { mime, bytes } = call.pictures.draw({ format, width, height, seed: task.id });
  return wholeAnswer(200, { ...openaiHeaders(), 'content-type': mime }, [bytes]);
}

const ownerOf = (call: Call): string | undefined => bearerToken(call.headers.authorization);

function taskFor(call: Call, id: string): Task {
  const task = tasks(call).get(id);
  if (task && task.owner === ownerOf(call)) return task;
  return refuse(404, { message: `Video with id '${id}' not found.`, code: 'video_not_found' });
}

function describeVideo(task: Task): { id: string } {
  const { id, facts, created, finished, ending, polls } = task;
  const failed = finished !== undefined && ending !== 'done';
  const completed = finished !== undefined && !failed;
  const running = polls === 0 ? 'queued' : 'in_progress';
  const video = {
    id,
    object: 'video',
    model: facts.model,
    status: failed ? 'failed' : completed ? 'completed' : running,
    progress: failed ? 0 : progressOf(task),
    created_at: created,
    completed_at: completed ? finished : null,
    expires_at: completed ? finished + LIFETIME_SECONDS : null,
    prompt: facts.prompt,
    seconds: facts.seconds,
    size: facts.size,
    remixed_from_video_id: facts.remixedFrom,
    error: failed ? errorOf(ending) : null,
  };
  return video;
}

const errorOf = (ending: VideoEnding): object => (['safety', 'some', 'prompt'].includes(ending) ? BLOCKED : BROKEN);

/** A refused prompt is a 400 at once; any other refusal makes the task fail later. */
export function videoRefusal(kind: RefusalKind, call: Call, answer: Answer): Answer {
  return kind === 'prompt' && call.method === 'POST' ? openaiError(400, { ...BLOCKED, param: 'prompt' }) : answer;
}
