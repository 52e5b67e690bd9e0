/**
 * What a vendor's protocol does not take of a request though the gateway can stand in for it: stop sequences, which it
 * then applies to the answer itself, and names of tools, which it writes anew on the way there and back.
 */
import type { ChatEvent, ChatMessage, ChatProtocol, ChatRequest } from '../../contract/chat.ts';
import { GatewayError } from '../../errors.ts';
import { compileStops } from '../../wire/stop-sequences.ts';
import { writableNames } from '../../wire/tool-names.ts';
import { stopRule } from './stop-rule.ts';

/** What becomes of an event of the answer; made anew for each answer, since it may remember what came before. */
export type EventRule = (event: ChatEvent) => readonly ChatEvent[];

export interface Fitted {
  readonly request: ChatRequest;
  /** Null: the answer passes as it is. */
  readonly answer: (() => EventRule) | null;
}

/** Each character of an answer is held against each sequence. */
const mostStops = 64;

export function fitted(request: ChatRequest, vendor: ChatProtocol): Fitted {
  const names = vendor.toolNames === undefined ? null : writableNames(namesIn(request), vendor.toolNames);
  const stops = stopsFor(request, vendor);
  if (names === null && stops === null) return { request, answer: null };
  const sequences = stops === null ? null : compileStops(stops);
  const originals = names === null ? null : new Map([...names].map(([name, written]) => [written, name]));
  return {
    request: names === null ? request : renamed(request, names),
    answer() {
      const cut = sequences === null ? null : stopRule(sequences);
      return (event) => {
        const told = originals === null ? event : withName(event, originals);
        return cut === null ? [told] : cut(told);
      };
    },
  };
}

/** All of them where the vendor does not get every one: which is met first decides. */
function stopsFor({ stop }: ChatRequest, { takesStop }: ChatProtocol): readonly string[] | null {
  if (takesStop === undefined || stop.every(takesStop)) return null;
  const meant = stop.filter((one) => one !== '');
  if (meant.length <= mostStops) return meant.length === 0 ? null : meant;
  throw new GatewayError('invalid_value', `\`stop\` may have at most ${mostStops} sequences for this model.`, {
    param: 'stop',
  });
}

function* namesIn({ messages, tools, toolChoice }: ChatRequest): Generator<string> {
  for (const { name } of tools) yield name;
  if (typeof toolChoice === 'object' && toolChoice !== null) yield toolChoice.name;
  for (const { role, parts } of messages)
    if (role === 'assistant') for (const part of parts) if (part.type === 'tool-call') yield part.name;
}

type Names = ReadonlyMap<string, string>;

function renamed(request: ChatRequest, names: Names): ChatRequest {
  const named = <T extends { readonly name: string }>(one: T): T => withName(one, names);
  const { messages, tools, toolChoice } = request;
  return {
    ...request,
    messages: messages.map((message): ChatMessage => {
      if (message.role !== 'assistant') return message;
      return { ...message, parts: message.parts.map((part) => (part.type === 'tool-call' ? named(part) : part)) };
    }),
    tools: tools.map(named),
    toolChoice: typeof toolChoice === 'object' && toolChoice !== null ? named(toolChoice) : toolChoice,
  };
}

function withName<T extends object>(one: T, names: Names): T {
  const name = 'name' in one && typeof one.name === 'string' ? names.get(one.name) : undefined;
  return name === undefined ? one : { ...one, name };
}
