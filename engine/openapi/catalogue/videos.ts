/** Video tasks. */
import { json, pageParameters, type RouteEntry } from '../entry.ts';

const tag = 'Videos';
const errors = 'OpenAiError';
const protocols = ['openai-videos'];
const everyProtocol = [...protocols, 'compat-videos'];
const submitted =
  'Ask for the task until its `status` is `completed` or `failed`; download when `metadata.storage.status` is `ready`. A failed task is not charged.';
const example = { model: '', prompt: 'A kite over dunes', seconds: '4' };

export const videoEntries: readonly RouteEntry[] = [
  {
    operation: 'videos.create',
    protocols,
    id: 'createVideo',
    tag,
    summary: 'Submission of a video task',
    description: submitted,
    request: { 'application/json': 'VideoRequest', 'multipart/form-data': 'VideoForm' },
    example,
    replies: json('Video'),
    errors,
  },
  {
    operation: 'videos.create',
    protocols: ['compat-videos'],
    id: 'submitVideo',
    tag,
    summary: 'Compatible video submission entry',
    description: `For old clients; new ones use the other entry. ${submitted}`,
    request: { 'application/json': 'VideoRequest', 'multipart/form-data': 'VideoForm' },
    example,
    replies: json('CompatVideo'),
    errors,
  },
  {
    operation: 'videos.list',
    protocols: everyProtocol,
    id: 'listVideos',
    tag,
    summary: 'Video tasks',
    description: 'The tasks of the key, in pages.',
    parameters: pageParameters('task'),
    replies: json('VideoList'),
    errors,
  },
  {
    operation: 'videos.get',
    protocols,
    id: 'retrieveVideo',
    tag,
    summary: 'Task progress, storage status, signed URL',
    description: 'Asking about a failed task answers 200. Another key’s task is not found.',
    replies: json('Video'),
    errors,
  },
  {
    operation: 'videos.get',
    protocols: ['compat-videos'],
    id: 'retrieveSubmittedVideo',
    tag,
    summary: 'Compatible task progress',
    description: 'For old clients; new ones use the other entry.',
    replies: json('CompatVideo'),
    errors,
  },
  {
    operation: 'videos.content',
    protocols: everyProtocol,
    id: 'downloadVideo',
    tag,
    summary: 'Authenticated download of the stored video',
    description: 'Redirects to a signed URL that expires. 409 with the status while the video is not stored.',
    replies: {},
    status: '302',
    errors,
  },
  {
    operation: 'videos.delete',
    protocols: everyProtocol,
    id: 'deleteVideo',
    tag,
    summary: 'Deletion of a task and its file',
    description: 'What was charged stays charged.',
    replies: json('VideoDeleted'),
    errors,
  },
];
