import { nextId } from '../answers.ts';
import { audioBytes, cutEvenly } from '../audio.ts';
import type { Item } from './conversation.ts';
import type { Plan } from './plan.ts';
import type { ServerEvent } from './problem.ts';
import type { Session } from './session.ts';
import { type Progress, usageOf } from './usage.ts';

const ARGUMENT_PIECE = 8;

/** A response on its way. */
interface Scene {
  readonly session: Session;
  readonly plan: Plan;
  readonly output: Item[];
  readonly progress: Progress;
}

/** Starts a response: its events go out one by one, as fast as the client reads or as the steering says. */
export function startResponse(session: Session, plan: Plan): void {
  const scene: Scene = { session, plan, output: [], progress: { text: '', bytes: 0 } };
  session.active = { id: plan.id, cancel: () => cancel(scene) };
  session.outbox.stream(produce(scene), plan.steering.delay);
}

function cancel(scene: Scene): void {
  const { session, output, progress } = scene;
  session.outbox.stop();
  if (progress.item) output.push(cutShort(scene, progress.item));
  session.outbox.send(finish(scene, 'cancelled', 'client_cancelled'), RATE_LIMITS);
}

function* produce(scene: Scene): Generator<ServerEvent> {
  const { session, plan } = scene;
  yield { type: 'response.created', response: describe(plan, [], 'in_progress', null, null) };
  const { refuse } = session.call.fault;
  if (refuse === undefined) yield* plan.calls.length > 0 ? produceCalls(scene) : produceMessage(scene);
  if (refuse !== undefined && refuse !== 'noimage') yield finish(scene, 'incomplete', 'content_filter');
  else if (plan.reply.truncated) yield finish(scene, 'incomplete', 'max_output_tokens');
  else yield finish(scene, 'completed');
  yield RATE_LIMITS;
}

function* produceMessage(scene: Scene): Generator<ServerEvent> {
  const { plan, progress } = scene;
  const spoken = plan.bytes > 0;
  const item: Item = { ...blankItem('message'), role: 'assistant', content: [] };
  const at = { response_id: plan.id, item_id: item.id, output_index: 0, content_index: 0 };
  const { text } = plan.reply;
  yield* openItem(scene, item, 0);
  const empty = spoken ? { type: 'audio', transcript: '' } : { type: 'text', text: '' };
  yield { type: 'response.content_part.added', ...at, part: empty };
  yield* spoken ? speak(plan, at, progress) : write(plan, at, progress);
  const part = spoken ? { type: 'audio', transcript: text } : { type: 'text', text };
  yield { type: 'response.content_part.done', ...at, part };
  const content = [spoken ? { type: 'output_audio', transcript: text } : { type: 'output_text', text }];
  const status = plan.reply.truncated ? 'incomplete' : 'completed';
  yield* closeItem(scene, { ...item, status, content }, 0);
}

function* write({ reply }: Plan, at: object, progress: Progress): Generator<ServerEvent> {
  for (const delta of reply.pieces) {
    progress.text += delta;
    yield { type: 'response.output_text.delta', ...at, delta };
  }
  yield { type: 'response.output_text.done', ...at, text: reply.text };
}

/** Each piece of the transcript before the sound that goes with it. */
function* speak({ reply, bytes, steering }: Plan, at: object, progress: Progress): Generator<ServerEvent> {
  const sounds = cutEvenly(bytes, steering.chunks);
  for (let index = 0; index < Math.max(sounds.length, reply.pieces.length); index += 1) {
    const delta = reply.pieces[index];
    if (delta !== undefined) {
      progress.text += delta;
      yield { type: 'response.output_audio_transcript.delta', ...at, delta };
    }
    const sound = sounds[index];
    if (sound) {
      progress.bytes += sound.size;
      yield {
        type: 'response.output_audio.delta',
        ...at,
        delta: audioBytes(sound.start, sound.size).toString('base64'),
      };
    }
  }
  yield { type: 'response.output_audio.done', ...at };
  yield { type: 'response.output_audio_transcript.done', ...at, transcript: reply.text };
}

function* produceCalls(scene: Scene): Generator<ServerEvent> {
  const { plan, progress } = scene;
  for (const [index, { name, input }] of plan.calls.entries()) {
    const call_id = nextId('call_');
    const item: Item = { ...blankItem('function_call'), name, call_id, arguments: '' };
    const at = { response_id: plan.id, item_id: item.id, output_index: index, call_id };
    yield* openItem(scene, item, index);
    for (let start = 0; start < input.length; start += ARGUMENT_PIECE) {
      const delta = input.slice(start, start + ARGUMENT_PIECE);
      progress.text += delta;
      yield { type: 'response.function_call_arguments.delta', ...at, delta };
    }
    yield { type: 'response.function_call_arguments.done', ...at, name, arguments: input };
    yield* closeItem(scene, { ...item, status: 'completed', arguments: input }, index);
  }
}

function blankItem(type: string): Item & { object: string } {
  return { id: nextId('item_'), object: 'realtime.item', type, status: 'in_progress' };
}

/** The item as far as it was sent. */
function cutShort({ session, plan, progress }: Scene, item: Item): Item {
  const { text, bytes } = progress;
  const content = [plan.bytes > 0 ? { type: 'output_audio', transcript: text } : { type: 'output_text', text }];
  const said = item.type === 'message' ? { content } : { arguments: text };
  const partial = { ...item, status: 'incomplete', ...said };
  session.conversation.replace(partial, bytes * plan.secondsPerByte);
  return partial;
}

function* openItem(scene: Scene, item: Item, index: number): Generator<ServerEvent> {
  const { session, plan, progress } = scene;
  progress.item = item;
  yield { type: 'response.output_item.added', response_id: plan.id, output_index: index, item };
  if (!plan.kept) return;
  yield { type: 'conversation.item.added', previous_item_id: session.conversation.add(item, 0), item };
}

function* closeItem(scene: Scene, item: Item, index: number): Generator<ServerEvent> {
  const { session, plan, output, progress } = scene;
  output.push(item);
  progress.item = undefined;
  yield { type: 'response.output_item.done', response_id: plan.id, output_index: index, item };
  if (!plan.kept) return;
  const previous_item_id = session.conversation.replace(item, plan.bytes * plan.secondsPerByte);
  yield { type: 'conversation.item.done', previous_item_id, item };
}

function finish({ session, plan, output, progress }: Scene, status: string, reason?: string): ServerEvent {
  session.active = undefined;
  const usage = session.call.fault.nousage ? null : usageOf(plan, progress);
  const details = reason === undefined ? null : { type: status, reason };
  return { type: 'response.done', response: describe(plan, output, status, details, usage) };
}

function describe(plan: Plan, output: readonly Item[], status: string, details: unknown, usage: unknown): unknown {
  const { id, settings, metadata } = plan;
  const { output_modalities, max_output_tokens, audio } = settings;
  const facts = { id, object: 'realtime.response', status, status_details: details, output, metadata, usage };
  return { ...facts, output_modalities, max_output_tokens, audio: { output: audio.output } };
}

const RATE_LIMITS: ServerEvent = {
  type: 'rate_limits.updated',
  rate_limits: [
    { name: 'requests', limit: 1000, remaining: 999, reset_seconds: 0.06 },
    { name: 'tokens', limit: 100_000, remaining: 99_000, reset_seconds: 0.6 },
  ],
};
