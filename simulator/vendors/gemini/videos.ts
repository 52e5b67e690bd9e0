import { createHash } from 'node:crypto';
import { nextId, wholeAnswer } from '../../answers.ts';
import type { Answer, Call } from '../../contract.ts';
import { defineMemory } from '../../memory.ts';
import { pollVideo, startVideo, type VideoTask, videoFile } from '../../videos/tasks.ts';
import { geminiAnswer } from './answer.ts';
import { refuse } from './errors.ts';
import { modelFor } from './models.ts';
import { readVeoRequest } from './videos-request.ts';

interface Facts {
  readonly model: string;
  /** Opens the address that a download redirects to. */
  readonly token: string;
}

type Task = VideoTask<Facts>;

const tasks = defineMemory<Task>(1000);
const HEIGHTS: Record<string, number> = { '720p': 720, '1080p': 1080, '4k': 2160 };
const RESULT = 'type.googleapis.com/google.ai.generativelanguage.v1beta.PredictLongRunningResponse';
const BLOCKED =
  "We encountered an issue with the content of your prompt, which goes against the service's usage guidelines.";

/** `POST /v1beta/models/{model}:predictLongRunning`: the name of an operation. */
export function answerPredict(call: Call): Answer {
  const { name } = modelFor(call, 'predictLongRunning');
  const { prompt, aspectRatio, resolution, seconds } = readVeoRequest(call);
  const shortest = HEIGHTS[resolution]!;
  const longest = (shortest * 16) / 9;
  const [width, height] = aspectRatio === '16:9' ? [longest, shortest] : [shortest, longest];
  const id = nextId('op');
  const token = createHash('sha256').update(`${id} ${call.origin}`).digest('hex').slice(0, 24);
  const film = { width, height, seconds };
  const task = startVideo(call, { id, owner: keyOf(call), prompt, film, facts: { model: name, token } });
  tasks(call).set(id, task);
  return geminiAnswer(200, { name: operationName(task) });
}

/** Operations, and the files that a finished one names; undefined for any other path. */
export function answerVideoPath(call: Call): Answer | undefined {
  if (call.method !== 'GET') return undefined;
  const [, model, id] = /^\/v1beta\/models\/([^/]+)\/operations\/([^/]+)$/.exec(call.path) ?? [];
  if (id !== undefined) return answerOperation(call, model!, id);
  const file = /^\/v1beta\/files\/([^/]+):download$/.exec(call.path)?.[1];
  return file === undefined ? undefined : answerFile(call, file);
}

function answerOperation(call: Call, model: string, id: string): Answer {
  const task = taskFor(call, id);
  if (task.facts.model !== model) return refuseLost(call);
  pollVideo(task, call);
  const name = operationName(task);
  return geminiAnswer(200, task.finished === undefined ? { name } : { name, done: true, ...resultOf(task, call) });
}

/** `error` holds a gRPC code; a filtered video is a success without samples. */
function resultOf(task: Task, call: Call): object {
  const respond = (generateVideoResponse: object): object => ({ response: { '@type': RESULT, generateVideoResponse } });
  switch (task.ending) {
    case 'done':
      return respond({ generatedSamples: [{ video: { uri: fileUrl(task, call) } }] });
    case 'noimage':
      return respond({});
    case 'prompt':
      return { error: { code: 3, message: BLOCKED } };
    case 'error':
      return { error: { code: 13, message: 'Video generation failed due to an internal server issue.' } };
    case 'expired':
      return { error: { code: 4, message: 'Deadline expired before operation could complete.' } };
    default:
      return respond({ raiMediaFilteredCount: 1, raiMediaFilteredReasons: [`${BLOCKED} Support codes: 15236754`] });
  }
}

const operationName = ({ id, facts }: Task): string => `models/${facts.model}/operations/${id}`;

const fileUrl = ({ id }: Task, call: Call): string => `${call.origin}/gemini/v1beta/files/${id}:download?alt=media`;

/** With the API key, sends on to the address where the bytes are. */
function answerFile(call: Call, id: string): Answer {
  const { finished, ending, facts } = taskFor(call, id);
  if (finished === undefined || ending !== 'done') return refuseLost(call);
  if (call.query.get('alt') !== 'media') return refuse(400, { message: 'Only alt=media can be downloaded.' }, call);
  const location = `${call.origin}/gemini/download/v1beta/files/${id}:download?alt=media&token=${facts.token}`;
  return wholeAnswer(302, { location, 'content-type': 'text/html; charset=UTF-8' }, []);
}

/** The second step of a download; its token stands for the key, which need not be sent on. */
export function answerDownload(call: Call): Answer {
  const id = /^\/download\/v1beta\/files\/([^/]+):download$/.exec(call.path)?.[1] ?? '';
  const task = tasks(call).get(id);
  if (!task || task.facts.token !== call.query.get('token')) return refuseLost(call);
  return wholeAnswer(200, { 'content-type': 'video/mp4' }, videoFile(task, call));
}

function keyOf(call: Call): string | undefined {
  const header = call.headers['x-goog-api-key'];
  return typeof header === 'string' && header !== '' ? header : (call.query.get('key') ?? undefined);
}

function taskFor(call: Call, id: string): Task {
  const task = tasks(call).get(id);
  return task && task.owner === keyOf(call) ? task : refuseLost(call);
}

const refuseLost = (call: Call): never => refuse(404, { message: 'Requested entity was not found.' }, call);
