/** Between a task and its row. */
import type { Price } from '../contract/model.ts';
import type { VideoFile, VideoStatus, VideoStorage } from '../contract/video.ts';
import type { TasksTable } from '../ledger/tables.ts';
import type { TaskChanges, TaskEnding, TaskOrigin, TaskPlace, VideoTask } from './task.ts';

/** Half a surrogate pair is no UTF-8: libsql ends the process when it reads one. A NUL would end the text. */
const text = (value: string): string => Buffer.from(value).toString().replaceAll('\0', '\uFFFD');
const textOrNull = (value: string | null): string | null => (value === null ? null : text(value));
const json = (value: object | null): string | null => (value === null ? null : text(JSON.stringify(value)));
const flag = (value: boolean): number => (value ? 1 : 0);

/** The row of a new task that no vendor has yet. */
export function columnsOf(origin: TaskOrigin): Omit<TasksTable, 'lease_owner' | 'lease_until'> {
  return {
    id: origin.id,
    request_id: origin.requestId,
    user_id: origin.userId,
    key_id: origin.keyId,
    endpoint: origin.endpoint,
    model: text(origin.model),
    group_name: text(origin.group),
    multiplier: origin.multiplier,
    price: JSON.stringify(origin.price),
    held: origin.held,
    prompt: text(origin.prompt),
    seconds: origin.seconds,
    size: textOrNull(origin.size),
    created_at: origin.createdAt,
    deadline_at: origin.deadlineAt,
    place: null,
    status: 'queued',
    progress: 0,
    storage: 'pending',
    ending: null,
    error_code: null,
    error_message: null,
    file: null,
    used_seconds: null,
    used_measured: 0,
    object_key: null,
    bytes: null,
    sha256: null,
    content_type: null,
    completed_at: null,
    open: 1,
    due_at: origin.createdAt,
    failures: 0,
    missing_since: null,
  };
}

/** A task as its row has it when a vendor has just accepted it. */
export const acceptedTask = (origin: TaskOrigin, place: TaskPlace): VideoTask =>
  taskOf({ ...columnsOf(origin), place: json(place), lease_owner: null, lease_until: 0 });

type Column = keyof TasksTable;
type Value = string | number | null;

/** How each thing that a step may change is written. */
const written: { readonly [K in keyof Required<TaskChanges>]: readonly [Column, (value: VideoTask[K]) => Value] } = {
  place: ['place', json],
  status: ['status', String],
  progress: ['progress', Number],
  storage: ['storage', String],
  ending: ['ending', textOrNull],
  errorCode: ['error_code', textOrNull],
  errorMessage: ['error_message', textOrNull],
  file: ['file', json],
  usedSeconds: ['used_seconds', (value) => value],
  usedMeasured: ['used_measured', flag],
  objectKey: ['object_key', textOrNull],
  bytes: ['bytes', (value) => value],
  sha256: ['sha256', textOrNull],
  contentType: ['content_type', textOrNull],
  completedAt: ['completed_at', (value) => value],
  open: ['open', flag],
  dueAt: ['due_at', Math.round],
  failures: ['failures', Number],
  missingSince: ['missing_since', (value) => value],
};

export function changedColumns(changes: TaskChanges): Partial<TasksTable> {
  const columns = Object.entries(changes).map(([name, value]) => {
    const [column, write] = written[name as keyof TaskChanges] as readonly [Column, (value: unknown) => Value];
    return [column, write(value)];
  });
  return Object.fromEntries(columns) as Partial<TasksTable>;
}

const parsed = <T>(value: string | null): T | null => (value === null ? null : (JSON.parse(value) as T));

export function taskOf(row: TasksTable): VideoTask {
  return {
    id: row.id,
    requestId: row.request_id,
    userId: row.user_id,
    keyId: row.key_id,
    endpoint: row.endpoint,
    model: row.model,
    group: row.group_name,
    multiplier: row.multiplier,
    price: JSON.parse(row.price) as Price,
    held: row.held,
    prompt: row.prompt,
    seconds: row.seconds,
    size: row.size,
    createdAt: row.created_at,
    deadlineAt: row.deadline_at,
    place: parsed<TaskPlace>(row.place),
    status: row.status as VideoStatus,
    progress: row.progress,
    storage: row.storage as VideoStorage,
    ending: row.ending as TaskEnding | null,
    errorCode: row.error_code,
    errorMessage: row.error_message,
    file: parsed<VideoFile>(row.file),
    usedSeconds: row.used_seconds,
    usedMeasured: row.used_measured !== 0,
    objectKey: row.object_key,
    bytes: row.bytes,
    sha256: row.sha256,
    contentType: row.content_type,
    completedAt: row.completed_at,
    open: row.open !== 0,
    dueAt: row.due_at,
    failures: row.failures,
    missingSince: row.missing_since,
  };
}
