/** What routes can ask for. Which wire format a route speaks is its protocol. */

/** The kind of protocol that a route of an operation speaks; `catalogue` is the engine's own. */
export type ProtocolKind = 'chat' | 'image' | 'direct' | 'video' | 'realtime' | 'catalogue';

interface OperationEntry {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly kind: ProtocolKind;
  /** What a model must be able to do; null: no model is named. */
  readonly capability: string | null;
  /** The path needs a part for a name or an id. */
  readonly named?: true;
  /** A second attempt could be charged twice: after a reset or a timeout the client is told (spec 7). */
  readonly costly?: true;
}

/** Every operation. Those whose capability is their own name can stand in a family's or a model's `operations`. */
const operationTable = {
  chat: { method: 'POST', kind: 'chat', capability: 'chat' },
  'chat.count': { method: 'POST', kind: 'chat', capability: 'chat' },
  'responses.get': { method: 'GET', kind: 'chat', capability: null, named: true },
  'responses.items': { method: 'GET', kind: 'chat', capability: null, named: true },
  'responses.delete': { method: 'DELETE', kind: 'chat', capability: null, named: true },
  'images.generate': { method: 'POST', kind: 'image', capability: 'images.generate', costly: true },
  'images.edit': { method: 'POST', kind: 'image', capability: 'images.edit', costly: true },
  'videos.create': { method: 'POST', kind: 'video', capability: 'videos.create', costly: true },
  'videos.get': { method: 'GET', kind: 'video', capability: null, named: true },
  'videos.content': { method: 'GET', kind: 'video', capability: null, named: true },
  'videos.list': { method: 'GET', kind: 'video', capability: null },
  'videos.delete': { method: 'DELETE', kind: 'video', capability: null, named: true },
  embeddings: { method: 'POST', kind: 'direct', capability: 'embeddings' },
  rerank: { method: 'POST', kind: 'direct', capability: 'rerank' },
  moderations: { method: 'POST', kind: 'direct', capability: 'moderations' },
  'audio.transcriptions': { method: 'POST', kind: 'direct', capability: 'audio.transcriptions' },
  'audio.translations': { method: 'POST', kind: 'direct', capability: 'audio.translations' },
  'audio.speech': { method: 'POST', kind: 'direct', capability: 'audio.speech' },
  realtime: { method: 'GET', kind: 'realtime', capability: 'realtime' },
  'models.list': { method: 'GET', kind: 'catalogue', capability: null },
  'models.get': { method: 'GET', kind: 'catalogue', capability: null, named: true },
} as const satisfies Record<string, OperationEntry>;

export type Operation = keyof typeof operationTable;

const entries: Readonly<Record<Operation, OperationEntry>> = operationTable;

export const operationEntry = (operation: Operation): OperationEntry => entries[operation];

/** Whether a model with these operations serves a route of this one. */
export function isCapable(operations: readonly Operation[], operation: Operation): boolean {
  const { capability } = entries[operation];
  return capability === null || (operations as readonly string[]).includes(capability);
}
