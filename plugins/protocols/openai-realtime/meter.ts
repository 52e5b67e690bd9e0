/** Reads along a session: the type of every event, and the whole of the few that say what was used. */
import { isObject, type JsonObject, noUsage, type SessionMeter, type SessionPart } from '../../../engine/plugin.ts';
import { Estimate } from './estimate.ts';
import { readUsage } from './usage.ts';

/** Vendors write the type first; where one does not, the event is parsed. */
const typeFirst = /^\s*\{\s*"type"\s*:\s*"([A-Za-z0-9_.]+)"/;
const headLength = 128;
const transcribed = 'conversation.item.input_audio_transcription.completed';
/** No session has more answers on their way. */
const mostRemembered = 100;
const deltaMark = Buffer.from('"delta"');

/** The later names and the beta's. */
const soundDeltas: ReadonlySet<string> = new Set(['response.output_audio.delta', 'response.audio.delta']);
const textDeltas: ReadonlySet<string> = new Set([
  'response.output_text.delta',
  'response.text.delta',
  'response.output_audio_transcript.delta',
  'response.audio_transcript.delta',
  'response.function_call_arguments.delta',
]);

export function createMeter(): SessionMeter {
  return new Meter();
}

class Meter implements SessionMeter {
  running = 0;
  private readonly estimate = new Estimate();
  /** Answers that were charged, the latest ones. */
  private readonly ended = new Set<string>();

  sent(frame: Buffer): void {
    // Never parsed: a client may send what it likes.
    const isSound = frame.includes('"input_audio_buffer.append"');
    this.estimate.asked(isSound ? 0 : frame.length, isSound ? frame.length : 0);
  }

  received(frame: Buffer): SessionPart | null {
    const type = typeOf(frame);
    if (soundDeltas.has(type)) this.estimate.said(0, deltaLength(frame));
    else if (textDeltas.has(type)) this.estimate.said(deltaLength(frame), 0);
    else if (type === 'response.created') this.running++;
    else if (type === 'session.created' || type === 'session.updated') this.estimate.formats(parsed(frame).session);
    else if (type === 'response.done') return this.done(parsed(frame));
    else if (type === transcribed) return transcript(parsed(frame));
    return null;
  }

  unreported() {
    return this.estimate.usage();
  }

  private isNew(id: string): boolean {
    const known = id.slice(0, 200);
    if (this.ended.has(known)) return false;
    this.ended.add(known);
    if (this.ended.size > mostRemembered) this.ended.delete(this.ended.values().next().value!);
    return true;
  }

  /** Nothing is owed for an answer that failed without a report, nor for one that is reported again. */
  private done({ response }: JsonObject): SessionPart | null {
    const { id, status, status_details: details, usage } = isObject(response) ? response : {};
    if (typeof id === 'string' && !this.isNew(id)) return null;
    this.running = Math.max(0, this.running - 1);
    const failed = status === 'failed';
    const used = readUsage(usage) ?? (failed ? null : this.estimate.usage());
    this.estimate.reset();
    if (!failed) return used === null ? null : { kind: 'ok', code: null, usage: used };
    return { kind: 'error', code: codeOf(details), usage: used ?? noUsage };
  }
}

function transcript({ usage }: JsonObject): SessionPart | null {
  const used = readUsage(usage);
  return used === null ? null : { kind: 'ok', code: null, usage: used };
}

function codeOf(details: JsonObject[string] | undefined): string {
  const error = isObject(details) && isObject(details.error) ? details.error : {};
  return typeof error.code === 'string' && /^[\w.:-]{1,100}$/.test(error.code) ? error.code : 'upstream_error';
}

/** '' for what is no event. */
function typeOf(frame: Buffer): string {
  const found = typeFirst.exec(frame.toString('latin1', 0, headLength));
  if (found !== null) return found[1]!;
  const { type } = parsed(frame);
  return typeof type === 'string' ? type : '';
}

/** Characters of the delta, from where it begins to the end of its string. */
function deltaLength(frame: Buffer): number {
  const key = frame.indexOf(deltaMark);
  const start = key < 0 ? -1 : frame.indexOf(0x22, key + deltaMark.length);
  if (start < 0) return 0;
  const end = frame.indexOf(0x22, start + 1);
  return end < 0 ? 0 : end - start - 1;
}

/** An empty object for what is none: it goes on unchanged and says nothing here. */
function parsed(frame: Buffer): JsonObject {
  try {
    const value: unknown = JSON.parse(frame.toString('utf8'));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
