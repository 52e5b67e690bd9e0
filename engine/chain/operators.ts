/** The operator of each route: one entry for every operation there is. */
import type { ChatProtocol } from '../contract/chat.ts';
import type { DirectProtocol } from '../contract/direct.ts';
import type { ImageProtocol } from '../contract/image.ts';
import type { Route } from '../contract/model.ts';
import type { Operation } from '../contract/operations.ts';
import type { RealtimeProtocol } from '../contract/realtime.ts';
import type { Responses } from '../contract/responses.ts';
import type { Log } from '../contract/values.ts';
import type { VideoProtocol } from '../contract/video.ts';
import type { Protocol } from '../plugin.ts';
import type { VideoTasks } from '../tasks/index.ts';
import { countOperator } from './chat/count-operator.ts';
import { chatOperator } from './chat/operator.ts';
import { directOperator } from './direct/operator.ts';
import type { Ending } from './ending.ts';
import { imageOperator } from './image/operator.ts';
import { localOperator } from './local-operator.ts';
import { listModels, showModel } from './models/models.ts';
import type { Operator } from './operator.ts';
import { realtimeOperator } from './realtime/operator.ts';
import type { RealtimeSettings } from './realtime/session.ts';
import type { Sessions } from './realtime/sessions.ts';
import { type StoredAction, storedOperator } from './responses/stored.ts';
import { videoOperator, videoTaskOperator } from './video/operator.ts';

export interface OperatorOptions {
  /** ms; asked for when a configuration is swapped in. */
  readonly receiveTimeout: () => number;
  readonly responses: Responses;
  /** ms between two comments in an image stream that waits for its vendor. */
  readonly heartbeat: number;
  /** Asked for when a session begins. */
  readonly realtime: () => RealtimeSettings;
  /** Folder for uploads that are too large for memory. */
  readonly uploads: string;
  readonly tasks: VideoTasks;
  readonly log: Log;
}

/** What operators share beside their options. */
export interface OperatorParts extends OperatorOptions {
  readonly ending: Ending;
  readonly sessions: Sessions;
}

/** `protocol`: the one that the route names, of the kind its operation speaks; a catalogue needs none. */
export function operatorFor(route: Route, protocol: Protocol | undefined, parts: OperatorParts): Operator {
  const { ending, heartbeat, log, responses, sessions, tasks, uploads } = parts;
  const receiveTimeout = parts.receiveTimeout();
  const chat = () => protocol as ChatProtocol;
  const imageParts = { ending, log, heartbeat };
  const stored = (action: StoredAction) => storedOperator(action, chat(), responses, ending);
  const image = (operation: 'generate' | 'edit') =>
    imageOperator(operation, (protocol as ImageProtocol).client!, receiveTimeout, imageParts);
  const direct = () => directOperator(protocol as DirectProtocol, receiveTimeout, { ending, log, uploads });
  const videoParts = () => ({ client: (protocol as VideoProtocol).client!, tasks, ending, log });
  const videoTask = () => videoTaskOperator(route.operation, videoParts());
  const operators: Record<Operation, () => Operator> = {
    chat: () => chatOperator(chat(), receiveTimeout, { ...imageParts, responses }),
    'chat.count': () => countOperator(chat(), receiveTimeout, ending, log),
    'responses.get': () => stored('get'),
    'responses.items': () => stored('items'),
    'responses.delete': () => stored('delete'),
    'images.generate': () => image('generate'),
    'images.edit': () => image('edit'),
    'videos.create': () => videoOperator(receiveTimeout, videoParts()),
    'videos.get': videoTask,
    'videos.content': videoTask,
    'videos.list': videoTask,
    'videos.delete': videoTask,
    embeddings: direct,
    rerank: direct,
    moderations: direct,
    'audio.transcriptions': direct,
    'audio.translations': direct,
    'audio.speech': direct,
    realtime: () => realtimeOperator(protocol as RealtimeProtocol, { ending, log, sessions, settings: parts.realtime }),
    'models.list': () => localOperator(listModels, ending),
    'models.get': () => localOperator(showModel, ending),
  };
  return operators[route.operation]();
}
