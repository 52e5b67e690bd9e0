/**
 * The blocks of a streamed answer, one after another: blocks of this protocol never overlap, while other vendors' parallel
 * tool calls do. The first block that is not whole is written as it comes; those behind it wait.
 */
import type { JsonObject } from '../../../engine/plugin.ts';
import { frame } from './stream-frames.ts';

interface Block {
  /** `text`, `thinking`, or the index of a tool call. */
  readonly of: 'text' | 'thinking' | number;
  readonly opening: JsonObject;
  /** Everything a tool call was given so far. */
  input: string;
  /** Deltas that wait. */
  waiting: JsonObject[];
  /** Nothing more belongs to it. */
  closed: boolean;
}

export class BlockQueue {
  /** The first of these is open. */
  private readonly blocks: Block[] = [];
  private index = 0;
  private isOpen = false;

  /** Text and thoughts go on in the last block of their kind; anything else ends it. */
  say(of: 'text' | 'thinking', text: string): string {
    let last = this.blocks.at(-1);
    const before = last?.of === of && !last.closed ? '' : this.add(of, opened[of]);
    last = this.blocks.at(-1)!;
    return (
      before +
      this.give(last, of === 'text' ? { type: 'text_delta', text } : { type: 'thinking_delta', thinking: text })
    );
  }

  /** The thought ends with its signature. */
  sign(signature: string): string {
    let before = '';
    if (this.blocks.at(-1)?.of !== 'thinking' || this.blocks.at(-1)!.closed)
      before = this.add('thinking', opened.thinking);
    const last = this.blocks.at(-1)!;
    const given = this.give(last, { type: 'signature_delta', signature });
    last.closed = true;
    return before + given + this.advance();
  }

  /** A block that is whole from its beginning. */
  whole(block: JsonObject): string {
    const before = this.add('thinking', block);
    this.blocks.at(-1)!.closed = true;
    return before + this.advance();
  }

  call(call: number, id: string, name: string): string {
    return this.add(call, { type: 'tool_use', id, name, input: {} });
  }

  input(call: number, text: string): string {
    const block = this.blocks.find((one) => one.of === call);
    if (block === undefined) return '';
    block.input += text;
    const given = this.give(block, { type: 'input_json_delta', partial_json: text });
    return this.blocks.length > 1 ? given + this.advance() : given;
  }

  /** The answer is over: all that waits is written. */
  end(): string {
    for (const block of this.blocks) block.closed = true;
    return this.advance();
  }

  private add(of: Block['of'], opening: JsonObject): string {
    const last = this.blocks.at(-1);
    if (last !== undefined && typeof last.of !== 'number') last.closed = true;
    this.blocks.push({ of, opening, input: '', waiting: [], closed: false });
    return this.advance();
  }

  private give(block: Block, delta: JsonObject): string {
    if (block === this.blocks[0] && this.isOpen) return this.delta(delta);
    block.waiting.push(delta);
    return '';
  }

  private delta(delta: JsonObject): string {
    return `${deltaHead}${this.index},"delta":${JSON.stringify(delta)}}\n\n`;
  }

  /** Closes what is whole at the head, and opens the next. */
  private advance(): string {
    let text = '';
    for (let head = this.blocks[0]; head !== undefined; head = this.blocks[0]) {
      if (!this.isOpen) {
        text += frame('content_block_start', { index: this.index, content_block: head.opening });
        for (const delta of head.waiting.splice(0)) text += this.delta(delta);
        this.isOpen = true;
      }
      if (!head.closed && (this.blocks.length === 1 || !isWhole(head))) break;
      text += frame('content_block_stop', { index: this.index });
      this.blocks.shift();
      this.index++;
      this.isOpen = false;
    }
    return text;
  }
}

/** Nearly all frames are these. */
const deltaHead = 'event: content_block_delta\ndata: {"type":"content_block_delta","index":';

const opened = {
  text: { type: 'text', text: '' },
  thinking: { type: 'thinking', thinking: '', signature: '' },
} as const;

/** A call whose input is a whole JSON object gets no more of it. */
function isWhole({ of, input }: Block): boolean {
  if (typeof of !== 'number' || !input.trimEnd().endsWith('}')) return false;
  try {
    JSON.parse(input);
    return true;
  } catch {
    return false;
  }
}
