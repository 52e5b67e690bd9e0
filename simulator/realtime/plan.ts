import { nextId } from '../answers.ts';
import { composeReply, countTokens, type ReplyText } from '../reply-text.ts';
import { sampleValue } from '../sample.ts';
import { readSteering, type Steering } from '../steering.ts';
import { type Item, lastUserText, readItem, type TokenCount } from './conversation.ts';
import type { Session } from './session.ts';
import { bytesPerSecond, mergeSettings, type Settings } from './settings.ts';

const CHARACTERS_PER_SECOND = 15;

/** A response before it is sent. */
export interface Plan {
  readonly id: string;
  readonly settings: Settings;
  readonly steering: Steering;
  readonly reply: ReplyText;
  /** Bytes of sound; 0 for a response in text. */
  readonly bytes: number;
  /** Seconds that a byte of it takes. */
  readonly secondsPerByte: number;
  readonly calls: readonly { readonly name: string; readonly input: string }[];
  readonly input: TokenCount;
  readonly metadata: unknown;
  /** False where the response stays out of the conversation. */
  readonly kept: boolean;
}

/** Decides what a `response.create` gets: the answer to the last text of the user, in text or sound, or calls of tools. */
export function planResponse(session: Session, asked: Record<string, unknown>): Plan {
  const { input: own, conversation, metadata = null, ...overrides } = asked;
  const settings = mergeSettings(session.settings, overrides);
  const items = Array.isArray(own)
    ? own.map((item, index) => readItem(item, `response.input[${index}]`, session.call.fault.lenient).item)
    : session.conversation.items;
  const prompt = lastUserText(items);
  const steering = readSteering(`${settings.instructions} ${prompt}`);
  const limit = settings.max_output_tokens === 'inf' ? undefined : settings.max_output_tokens;
  const reply = composeReply(prompt, steering, limit);
  const rate = bytesPerSecond(settings.audio.output.format);
  const spoken = settings.output_modalities[0] === 'audio';
  const bytes = steering.bytes ?? Math.ceil((reply.text.length / CHARACTERS_PER_SECOND) * rate);
  return {
    id: nextId('resp_'),
    settings,
    steering,
    reply,
    bytes: spoken ? Math.max(1, bytes) : 0,
    secondsPerByte: 1 / rate,
    calls: callsOf(settings, items, steering.calls),
    input: countInput(session, settings, items),
    metadata,
    kept: conversation !== 'none',
  };
}

function callsOf({ tools, tool_choice: choice }: Settings, items: readonly Item[], count: number): Plan['calls'] {
  if (tools.length === 0 || choice === 'none' || items.at(-1)?.type === 'function_call_output') return [];
  const { name, parameters } = tools[0]!;
  const input = JSON.stringify(sampleValue(parameters ?? { type: 'object' }));
  return Array.from({ length: count }, () => ({ name: name ?? '', input }));
}

function countInput({ conversation }: Session, settings: Settings, items: readonly Item[]): TokenCount {
  const counted = conversation.count(items);
  const tools = settings.tools.length > 0 ? countTokens(JSON.stringify(settings.tools)) : 0;
  return { ...counted, text: counted.text + countTokens(settings.instructions) + tools };
}
