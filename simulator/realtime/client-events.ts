import { nextId } from '../answers.ts';
import { type Check, checkFields, checkInteger, checkText, isRecord } from '../checks.ts';
import { type Item, readItem } from './conversation.ts';
import { planResponse } from './plan.ts';
import { EventProblem, problemEvent, refuseEvent, refuseProblem } from './problem.ts';
import { startResponse } from './response.ts';
import type { Session } from './session.ts';
import { bytesPerSecond, CHECK_RESPONSE, CHECK_SESSION, mergeSettings } from './settings.ts';

const SHORTEST_COMMIT = 0.1;
const LARGEST_APPEND = 15_728_640;
const TRANSCRIPT_TOKENS_PER_SECOND = 10;

type ClientEvent = Readonly<Record<string, unknown>>;

interface Handler {
  readonly fields: Readonly<Record<string, Check>>;
  readonly required?: readonly string[];
  handle(session: Session, event: ClientEvent): void;
}

const ITEM_ID = { fields: { item_id: checkText() }, required: ['item_id'] };

const HANDLERS: Readonly<Record<string, Handler>> = {
  'session.update': { fields: { session: CHECK_SESSION }, required: ['session'], handle: updateSession },
  'input_audio_buffer.append': { fields: { audio: checkText() }, required: ['audio'], handle: append },
  'input_audio_buffer.commit': { fields: {}, handle: commit },
  'input_audio_buffer.clear': {
    fields: {},
    handle(session) {
      session.buffered = 0;
      session.outbox.send({ type: 'input_audio_buffer.cleared' });
    },
  },
  'conversation.item.create': {
    fields: { item: () => undefined, previous_item_id: checkText() },
    required: ['item'],
    handle: createItem,
  },
  'conversation.item.retrieve': {
    ...ITEM_ID,
    handle(session, event) {
      session.outbox.send({ type: 'conversation.item.retrieved', item: findItem(session, event, 'retrieve') });
    },
  },
  'conversation.item.delete': {
    ...ITEM_ID,
    handle(session, event) {
      const item = findItem(session, event, 'delete');
      session.conversation.remove(item);
      session.outbox.send({ type: 'conversation.item.deleted', item_id: item.id });
    },
  },
  'conversation.item.truncate': {
    fields: { item_id: checkText(), content_index: checkInteger(0, 0), audio_end_ms: checkInteger(0, 3_600_000) },
    required: ['item_id', 'content_index', 'audio_end_ms'],
    handle(session, { content_index, audio_end_ms, ...event }) {
      const { id } = findItem(session, event, 'truncate');
      session.outbox.send({ type: 'conversation.item.truncated', item_id: id, content_index, audio_end_ms });
    },
  },
  'response.create': { fields: { response: CHECK_RESPONSE }, handle: createResponse },
  'response.cancel': { fields: { response_id: checkText() }, handle: cancelResponse },
};

/** Answers one text frame of a client. */
export function handleFrame(session: Session, text: string): unknown {
  const event = parseEvent(text);
  try {
    dispatch(session, event);
  } catch (error) {
    if (!(error instanceof EventProblem)) throw error;
    session.outbox.send(problemEvent(error.problem, event?.event_id));
  }
  return event ?? text;
}

function parseEvent(text: string): ClientEvent | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function dispatch(session: Session, event: ClientEvent | undefined): void {
  if (!event) return refuseEvent(null, 'invalid_json', 'We could not parse the event: expected a JSON object.');
  const { type, event_id: _, ...fields } = event;
  if (typeof type !== 'string')
    return refuseEvent('type', 'missing_required_parameter', "Missing required parameter: 'type'.");
  const handler = Object.hasOwn(HANDLERS, type) ? HANDLERS[type] : undefined;
  if (!handler) {
    const known = Object.keys(HANDLERS).join("', '");
    return refuseEvent('type', 'invalid_value', `Invalid value: '${type}'. Supported values are: '${known}'.`);
  }
  refuseProblem(checkFields(fields, handler.fields, handler.required ?? [], '', session.call.fault.lenient));
  handler.handle(session, fields);
}

function updateSession(session: Session, event: ClientEvent): void {
  const { model, ...update } = event.session as Record<string, unknown>;
  if (model !== undefined && model !== session.call.model)
    refuseEvent('session.model', 'cannot_update_model', 'The model of a session cannot be changed.');
  session.settings = mergeSettings(session.settings, update);
  session.outbox.send({ type: 'session.updated', session: session.settings });
}

function createItem(session: Session, event: ClientEvent): void {
  const { item, bytes } = readItem(event.item, 'item', session.call.fault.lenient);
  addItem(session, item, bytes, event.previous_item_id as string | undefined);
}

function addItem(session: Session, item: Item, bytes: number, after?: string): void {
  const seconds = bytes / bytesPerSecond(session.settings.audio.input.format);
  const previous_item_id = session.conversation.add(item, seconds, after);
  session.outbox.send(
    { type: 'conversation.item.added', previous_item_id, item },
    { type: 'conversation.item.done', previous_item_id, item },
  );
}

function findItem({ conversation }: Session, { item_id: id }: ClientEvent, verb: string): Item {
  const item = conversation.find(id);
  if (item) return item;
  const message = `Error: the item with id '${id}' does not exist.`;
  return refuseEvent('item_id', `item_${verb}_invalid_item_id`, message);
}

/** Nothing is answered to what is well. */
function append(session: Session, event: ClientEvent): void {
  const audio = event.audio as string;
  if (audio.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(audio))
    refuseEvent('audio', 'invalid_value', "Invalid 'audio'. Expected base64-encoded audio bytes.");
  const bytes = Buffer.byteLength(audio, 'base64');
  if (bytes > LARGEST_APPEND)
    refuseEvent('audio', 'string_above_max_length', `Invalid 'audio': at most ${LARGEST_APPEND} bytes at once.`);
  session.buffered += bytes;
}

function commit(session: Session): void {
  const bytes = session.buffered;
  const seconds = bytes / bytesPerSecond(session.settings.audio.input.format);
  if (seconds < SHORTEST_COMMIT) {
    const message = `Error committing input audio buffer: buffer too small. Expected at least 100ms of audio, but buffer only has ${(seconds * 1000).toFixed(2)}ms of audio.`;
    refuseEvent(null, 'input_audio_buffer_commit_empty', message);
  }
  session.buffered = 0;
  const content = [{ type: 'input_audio', transcript: null }];
  const id = nextId('item_');
  const item = { id, object: 'realtime.item', type: 'message', role: 'user', status: 'completed', content };
  const previous_item_id = session.conversation.items.at(-1)?.id ?? null;
  session.outbox.send({ type: 'input_audio_buffer.committed', previous_item_id, item_id: id });
  addItem(session, item as unknown as Item, bytes);
  if (session.settings.audio.input.transcription) transcribe(session, id, bytes, seconds);
}

/** The transcription has its own bill: seconds for whisper-1, tokens for the other models. */
function transcribe({ settings, outbox, call }: Session, item_id: string, bytes: number, seconds: number): void {
  const transcript = `${bytes} bytes of sound`;
  const at = { item_id, content_index: 0 };
  const audio = Math.ceil(seconds * TRANSCRIPT_TOKENS_PER_SECOND);
  const tokens = { total_tokens: audio + 5, input_tokens: audio, output_tokens: 5 };
  const usage =
    settings.audio.input.transcription?.model === 'whisper-1'
      ? { type: 'duration', seconds: Math.ceil(seconds) }
      : { type: 'tokens', ...tokens, input_token_details: { text_tokens: 0, audio_tokens: audio } };
  outbox.send(
    { type: 'conversation.item.input_audio_transcription.delta', ...at, delta: transcript },
    {
      type: 'conversation.item.input_audio_transcription.completed',
      ...at,
      transcript,
      ...(call.fault.nousage ? {} : { usage }),
    },
  );
}

function createResponse(session: Session, event: ClientEvent): void {
  if (session.active) {
    const message = `Conversation already has an active response in progress: ${session.active.id}. Wait until the response is finished before creating a new one.`;
    refuseEvent(null, 'conversation_already_has_active_response', message);
  }
  startResponse(session, planResponse(session, (event.response ?? {}) as Record<string, unknown>));
}

function cancelResponse({ active }: Session, { response_id: id }: ClientEvent): void {
  if (active && (id === undefined || id === active.id)) active.cancel();
  else refuseEvent(null, 'response_cancel_not_active', 'Cancellation failed: no active response found');
}
