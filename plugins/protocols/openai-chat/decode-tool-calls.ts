/** Tool calls of one answer as events, whole or in fragments. */
import {
  type ChatEvent,
  isObject,
  type JsonObject,
  type JsonValue,
  madeId,
  readIndex,
  signedBy,
} from '../../../engine/plugin.ts';
import { protocolName } from './fields.ts';

interface OpenCall {
  readonly id: string;
  /** Its place among the neutral calls of its choice. */
  readonly index: number;
}

/**
 * Fragments belong together by `index`. Vendors that number every parallel call 0 are told apart by a new id with a
 * name; those that leave the id out get one made up.
 */
export class ToolCallReader {
  private readonly open = new Map<string, OpenCall>();
  private readonly counts = new Map<number, number>();

  read(choice: number, calls: JsonValue | undefined): ChatEvent[] {
    if (!Array.isArray(calls)) return [];
    return calls.flatMap((call, place) => (isObject(call) ? this.readOne(choice, call, place) : []));
  }

  private readOne(choice: number, call: JsonObject, place: number): ChatEvent[] {
    const called = isObject(call.function) ? call.function : {};
    const name = typeof called.name === 'string' ? called.name : '';
    const id = typeof call.id === 'string' ? call.id : '';
    const key = `${choice}:${readIndex(call.index, place)}`;
    const events: ChatEvent[] = [];
    let current = this.open.get(key);
    if (current === undefined || (id !== '' && name !== '' && id !== current.id)) {
      current = { id: id || madeId('call_'), index: this.counts.get(choice) ?? 0 };
      this.counts.set(choice, current.index + 1);
      this.open.set(key, current);
      events.push({ type: 'tool-call', choice, index: current.index, id: current.id, name, ...signatureOf(call) });
    }
    const text = argumentsOf(called.arguments);
    if (text !== '') events.push({ type: 'tool-arguments', choice, index: current.index, text });
    return events;
  }
}

/** Some vendors send the arguments as an object. */
function argumentsOf(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value;
  return isObject(value) ? JSON.stringify(value) : '';
}

function signatureOf({ extra_content }: JsonObject): { signature?: string } {
  const google = isObject(extra_content) ? extra_content.google : null;
  return isObject(google) && typeof google.thought_signature === 'string'
    ? { signature: signedBy(protocolName, google.thought_signature) }
    : {};
}
