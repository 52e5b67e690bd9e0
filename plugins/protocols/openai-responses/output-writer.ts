/** The output of a response as it grows: its items one after another, and the events that tell of them. */
import { customToolInput, type FinishReason, type JsonObject, type JsonValue } from '../../../engine/plugin.ts';
import { unsigned } from './compaction.ts';
import { newId } from './response-object.ts';

/** Writes one event with the next sequence number. */
export type Tell = (type: string, members: JsonObject) => string;

type ItemStatus = 'completed' | 'incomplete';

/** An item that is not finished yet. */
interface OpenItem {
  readonly kind: 'message' | 'reasoning' | 'call';
  /** The rest of its events; it is finished then. */
  close(status: ItemStatus): string;
}

interface OpenMessage extends OpenItem {
  readonly kind: 'message';
  say(type: 'text' | 'refusal', piece: string): string;
}

interface OpenThought extends OpenItem {
  readonly kind: 'reasoning';
  think(piece: string): string;
  /** Its last word. */
  sign(signature: string): void;
}

interface OpenCall extends OpenItem {
  readonly kind: 'call';
  readonly index: number;
  argue(piece: string): string;
  /** Its arguments are whole, as far as can be told before its end. */
  isWhole(): boolean;
}

/** A call that began while another one's arguments were not whole: its events follow that one's. */
interface WaitingCall {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly isCustom: boolean;
  text: string;
}

export class OutputWriter {
  readonly output: JsonObject[] = [];
  private readonly tell: Tell;
  private current: OpenMessage | OpenThought | OpenCall | null = null;
  private waiting: WaitingCall[] = [];

  constructor(tell: Tell) {
    this.tell = tell;
  }

  say(type: 'text' | 'refusal', piece: string): string {
    if (this.current?.kind === 'message') return this.current.say(type, piece);
    const { opened, message } = this.openMessage();
    return opened + message.say(type, piece);
  }

  think(piece: string): string {
    if (this.current?.kind === 'reasoning') return this.current.think(piece);
    const { opened, thought } = this.openThought();
    return opened + thought.think(piece);
  }

  /** The signature ends its thought, which may have no words. */
  sign(signature: string): string {
    let opened = '';
    if (this.current?.kind !== 'reasoning') opened = this.openThought().opened;
    (this.current as OpenThought).sign(signature);
    return opened + this.close('completed');
  }

  call(index: number, id: string, name: string, isCustom: boolean): string {
    const call: WaitingCall = { index, id, name, isCustom, text: '' };
    if (this.current?.kind === 'call' && (this.waiting.length > 0 || !this.current.isWhole())) {
      this.waiting.push(call);
      return '';
    }
    return this.close('completed') + this.begin(call);
  }

  /** The pieces of several calls may come mixed: the events of one call are told before those of the next. */
  argue(index: number, piece: string): string {
    if (this.current?.kind === 'call' && this.current.index === index) {
      const told = this.current.argue(piece);
      return this.waiting.length > 0 && this.current.isWhole() ? told + this.next() : told;
    }
    const waiting = this.waiting.find((call) => call.index === index);
    // What comes behind arguments that were whole, or behind other words, has no call to go to.
    if (waiting !== undefined) waiting.text += piece;
    return '';
  }

  private begin({ index, id, name, isCustom, text }: WaitingCall): string {
    const { added, call } = this.openCall(index, id, name, isCustom);
    this.current = call;
    return text === '' ? added : added + call.argue(text);
  }

  /** Goes on with the calls that wait, to the first whose arguments are not whole. */
  private next(): string {
    let told = '';
    while (this.waiting.length > 0 && this.current?.kind === 'call' && this.current.isWhole())
      told += this.current.close('completed') + this.begin(this.waiting.shift()!);
    return told;
  }

  draw(mediaType: string, result: string): string {
    const closed = this.close('completed');
    const id = newId('ig_');
    const place = { item_id: id, output_index: this.output.length };
    const drawn = `response.image_generation_call.`;
    const added = this.added({ id, type: 'image_generation_call', status: 'in_progress' });
    const steps = ['in_progress', 'generating', 'completed'].map((step) => this.tell(drawn + step, place)).join('');
    const item = { id, type: 'image_generation_call', status: 'completed', ...formatOf(mediaType), result };
    return closed + added + steps + this.finished(item);
  }

  /** Ends what is open; how the answer ended tells whether it is whole. */
  end(reason: FinishReason): string {
    return this.close(reason === 'length' || reason === 'content-filter' ? 'incomplete' : 'completed');
  }

  /** A finished item, with the event that says so. */
  finished(item: JsonObject): string {
    const told = this.tell('response.output_item.done', { output_index: this.output.length, item });
    this.output.push(item);
    return told;
  }

  added(item: JsonObject): string {
    return this.tell('response.output_item.added', { output_index: this.output.length, item });
  }

  private close(status: ItemStatus): string {
    let told = this.current?.close(status) ?? '';
    this.current = null;
    for (const call of this.waiting.splice(0)) {
      told += this.begin(call);
      told += this.current!.close(status);
      this.current = null;
    }
    return told;
  }

  private openMessage(): { opened: string; message: OpenMessage } {
    const closed = this.close('completed');
    const item = { id: newId('msg_'), type: 'message', role: 'assistant' };
    const place = { item_id: item.id, output_index: this.output.length };
    const content: JsonObject[] = [];
    let part: { readonly type: 'text' | 'refusal'; text: string } | null = null;
    const closePart = (): string => {
      if (part === null) return '';
      const at = { ...place, content_index: content.length };
      const whole = partOf(part.type, part.text);
      const done =
        part.type === 'text'
          ? this.tell('response.output_text.done', { ...at, text: part.text, logprobs: [] })
          : this.tell('response.refusal.done', { ...at, refusal: part.text });
      content.push(whole);
      part = null;
      return done + this.tell('response.content_part.done', { ...at, part: whole });
    };
    const message: OpenMessage = {
      kind: 'message',
      say: (type, piece) => {
        const closedPart = part?.type === type ? '' : closePart();
        const at = { ...place, content_index: content.length };
        let added = '';
        if (part === null) {
          part = { type, text: '' };
          added = this.tell('response.content_part.added', { ...at, part: partOf(type, '') });
        }
        part.text += piece;
        const delta =
          type === 'text'
            ? this.tell('response.output_text.delta', { ...at, delta: piece, logprobs: [] })
            : this.tell('response.refusal.delta', { ...at, delta: piece });
        return closedPart + added + delta;
      },
      close: (status) => closePart() + this.finished({ ...item, status, content }),
    };
    this.current = message;
    return { opened: closed + this.added({ ...item, status: 'in_progress', content: [] }), message };
  }

  private openThought(): { opened: string; thought: OpenThought } {
    const closed = this.close('completed');
    const item = { id: newId('rs_'), type: 'reasoning' };
    const at = { item_id: item.id, output_index: this.output.length, summary_index: 0 };
    let text = '';
    let signature = unsigned;
    const summary = (): JsonValue => (text === '' ? [] : [{ type: 'summary_text', text }]);
    const thought: OpenThought = {
      kind: 'reasoning',
      think: (piece) => {
        const part = { type: 'summary_text', text: '' };
        const added = text === '' ? this.tell('response.reasoning_summary_part.added', { ...at, part }) : '';
        text += piece;
        return added + this.tell('response.reasoning_summary_text.delta', { ...at, delta: piece });
      },
      sign: (given) => {
        signature = given;
      },
      close: () => {
        const part = { type: 'summary_text', text };
        const said =
          text === ''
            ? ''
            : this.tell('response.reasoning_summary_text.done', { ...at, text }) +
              this.tell('response.reasoning_summary_part.done', { ...at, part });
        return said + this.finished({ ...item, summary: summary(), encrypted_content: signature });
      },
    };
    this.current = thought;
    return { opened: closed + this.added({ ...item, summary: [] }), thought };
  }

  private openCall(index: number, callId: string, name: string, isCustom: boolean): { added: string; call: OpenCall } {
    const type = isCustom ? 'custom_tool_call' : 'function_call';
    const item = { id: newId(isCustom ? 'ctc_' : 'fc_'), type, call_id: callId, name };
    const at = { item_id: item.id, output_index: this.output.length };
    let text = '';
    const added = this.added({ ...item, status: 'in_progress', [isCustom ? 'input' : 'arguments']: '' });
    const call: OpenCall = {
      kind: 'call',
      index,
      argue: (piece) => {
        text += piece;
        // What stands within the arguments is known once they are whole.
        return isCustom ? '' : this.tell('response.function_call_arguments.delta', { ...at, delta: piece });
      },
      isWhole: () => text.trimEnd().endsWith('}') && isJson(text),
      close: (status) => {
        if (!isCustom) {
          const done = this.tell('response.function_call_arguments.done', { ...at, name, arguments: text });
          return done + this.finished({ ...item, status, arguments: text });
        }
        const input = customToolInput(text);
        const told =
          this.tell('response.custom_tool_call_input.delta', { ...at, delta: input }) +
          this.tell('response.custom_tool_call_input.done', { ...at, input });
        return told + this.finished({ ...item, status, input });
      },
    };
    return { added, call };
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const partOf = (type: 'text' | 'refusal', text: string): JsonObject =>
  type === 'text' ? { type: 'output_text', text, annotations: [], logprobs: [] } : { type: 'refusal', refusal: text };

/** `image/png` as the protocol says it. */
export const formatOf = (mediaType: string): JsonObject => ({ output_format: mediaType.replace(/^image\//, '') });
