/** Events as chunks (spec 6.2): role first, then deltas, the finish, and the usage where the client asked for it. */
import {
  type ChatCall,
  type ChatEvent,
  ChunkWriter,
  customToolInput,
  type JsonObject,
  openAiStreamError,
  type StreamEncoder,
  shownSignature,
  writeFinish,
} from '../../../engine/plugin.ts';
import { customToolNames } from './custom-tools.ts';
import { encodeImage, encodeSignature } from './encode-extension.ts';
import { protocolName } from './fields.ts';
import { shownDetail } from './reasoning-details.ts';

type Of<T extends ChatEvent['type']> = Extract<ChatEvent, { type: T }>;
type DeltaEvent = Exclude<ChatEvent, Of<'start' | 'finish' | 'usage' | 'error'>>;

export function encodeStream(call: ChatCall): StreamEncoder {
  const writer = new ChunkWriter(call, 'chat.completion.chunk', 'chatcmpl-');
  const deltas = new DeltaWriter(customToolNames(call));
  const delta = (index: number, said: JsonObject, reason: string | null = null) =>
    writer.chunk({ index, delta: said, logprobs: null, finish_reason: reason });
  const role = (choice: number, content: string | null) =>
    writer.opens(choice) ? delta(choice, { role: 'assistant', content, refusal: null }) : '';
  const finish = ({ choice, reason }: Of<'finish'>) => {
    const inputs = deltas.inputsOf(choice).map((said) => delta(choice, said));
    return role(choice, '') + inputs.join('') + delta(choice, {}, writeFinish(reason));
  };
  const encode = (event: ChatEvent): string => {
    switch (event.type) {
      case 'start':
        // Nothing is written yet: a vendor that fails right after it can still be replaced by another.
        writer.start(event);
        return '';
      case 'finish':
        return finish(event);
      case 'usage':
        writer.usage = event.usage;
        return '';
      case 'error':
        return '';
      default: {
        const said = deltas.encode(event);
        if (said === null) return '';
        return role(event.choice, event.type === 'tool-call' ? null : '') + delta(event.choice, said);
      }
    }
  };
  return { encode, end: () => writer.end(), encodeError: openAiStreamError };
}

class DeltaWriter {
  private readonly custom: ReadonlySet<string>;
  /** Arguments of calls of custom tools, by choice and index: their plain text is known only when they are whole. */
  private readonly inputs = new Map<number, Map<number, string>>();
  /** The thought of each choice that may still be signed. */
  private readonly thoughts = new Map<number, string>();

  constructor(custom: ReadonlySet<string>) {
    this.custom = custom;
  }

  /** Null where nothing is to be said yet. */
  encode(event: DeltaEvent): JsonObject | null {
    switch (event.type) {
      case 'text':
        return { content: event.text };
      case 'reasoning':
        return this.thought(event);
      case 'refusal':
        return { refusal: event.text };
      case 'image':
        return { images: [encodeImage(event)] };
      case 'tool-call':
        return { tool_calls: [this.call(event)] };
      case 'tool-arguments':
        return this.callArguments(event);
    }
  }

  /** The custom calls of a choice that ends. */
  inputsOf(choice: number): JsonObject[] {
    const inputs = [...(this.inputs.get(choice) ?? [])];
    this.inputs.delete(choice);
    return inputs.map(([index, text]) => ({ tool_calls: [{ index, custom: { input: customToolInput(text) } }] }));
  }

  /** A signature comes with the whole of its thought, so that a client need not put it together. */
  private thought({ choice, text, signature }: Of<'reasoning'>): JsonObject {
    const whole = (this.thoughts.get(choice) ?? '') + text;
    this.thoughts.set(choice, signature === undefined ? whole : '');
    const said = text === '' ? {} : { reasoning_content: text };
    return signature === undefined ? said : { ...said, reasoning_details: [shownDetail(whole, signature)] };
  }

  private call({ choice, index, id, name, signature }: Of<'tool-call'>): JsonObject {
    if (!this.custom.has(name)) {
      const shown = signature === undefined ? undefined : shownSignature(protocolName, signature);
      return { index, id, type: 'function', function: { name, arguments: '' }, ...encodeSignature(shown) };
    }
    const inputs = this.inputs.get(choice) ?? new Map<number, string>();
    this.inputs.set(choice, inputs.set(index, ''));
    return { index, id, type: 'custom', custom: { name, input: '' } };
  }

  private callArguments({ choice, index, text }: Of<'tool-arguments'>): JsonObject | null {
    const inputs = this.inputs.get(choice);
    const before = inputs?.get(index);
    if (before === undefined) return { tool_calls: [{ index, function: { arguments: text } }] };
    inputs!.set(index, before + text);
    return null;
  }
}
