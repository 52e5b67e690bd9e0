import { dataFrame, eventFrame, jsonAnswer, nextId, streamAnswer } from '../../answers.ts';
import type { Answer, Call, Frame } from '../../contract.ts';
import { anthropicHeaders } from './errors.ts';
import type { Outcome, OutputBlock } from './outcome.ts';

const INPUT_PIECE = 8;
const PING = eventFrame('ping', { type: 'ping' });

export function wholeMessage(outcome: Outcome, call: Call): Answer {
  const { ending, input, outputTokens, thinkingTokens } = outcome;
  const usage = {
    ...input,
    output_tokens: outputTokens,
    output_tokens_details: { thinking_tokens: thinkingTokens },
    server_tool_use: null,
    service_tier: 'standard',
    inference_geo: null,
    speed: null,
  };
  const message = {
    ...headOf(outcome),
    content: outcome.blocks.map(wholeBlock),
    container: null,
    diagnostics: null,
    stop_reason: ending.reason,
    stop_sequence: ending.sequence,
    stop_details: ending.details,
    ...(call.fault.nousage ? {} : { usage }),
  };
  return jsonAnswer(200, message, anthropicHeaders());
}

/** Blocks follow each other and never overlap; a ping comes with the first. */
export function streamMessage(outcome: Outcome, call: Call): Answer {
  const { ending, input, outputTokens, thinkingTokens, blocks, delay } = outcome;
  const opening = {
    ...headOf(outcome),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    ...(call.fault.nousage ? {} : { usage: { ...input, output_tokens: 1, service_tier: 'standard' } }),
  };
  const { cache_creation: _, ...counts } = input;
  const usage = {
    ...counts,
    output_tokens: outputTokens,
    output_tokens_details: { thinking_tokens: thinkingTokens },
    server_tool_use: null,
  };
  const closing = {
    type: 'message_delta',
    delta: {
      stop_reason: ending.reason,
      stop_sequence: ending.sequence,
      stop_details: ending.details,
      container: null,
    },
    ...(call.fault.nousage ? {} : { usage }),
  };
  const [head, ...rest] = blocks.flatMap(blockFrames);
  const frames: Frame[] = [
    eventFrame('message_start', { type: 'message_start', message: opening }),
    ...(head ? [head] : []),
    PING,
    ...rest,
    eventFrame('message_delta', closing),
    { ...eventFrame('message_stop', { type: 'message_stop' }), kind: 'done' },
  ];
  return streamAnswer(frames, delay, anthropicHeaders());
}

const headOf = ({ model }: Outcome) => ({ id: nextId('msg_'), type: 'message', role: 'assistant', model });

function wholeBlock(block: OutputBlock): object {
  switch (block.type) {
    case 'thinking':
      return { type: 'thinking', thinking: block.text, signature: block.signature };
    case 'text':
      return { type: 'text', text: block.text, citations: null };
    case 'tool_use':
      return { type: 'tool_use', id: block.id, name: block.name, input: block.input, caller: { type: 'direct' } };
    default:
      return block;
  }
}

function blockFrames(block: OutputBlock, index: number): Frame[] {
  const [opening, deltas] = openingAndDeltas(block);
  const start = { type: 'content_block_start', index, content_block: opening };
  const head = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":`;
  return [
    eventFrame('content_block_start', start),
    ...deltas.map((delta) => dataFrame(`${head}${JSON.stringify(delta)}}\n\n`)),
    eventFrame('content_block_stop', { type: 'content_block_stop', index }),
  ];
}

function openingAndDeltas(block: OutputBlock): [object, object[]] {
  switch (block.type) {
    case 'thinking':
      return [
        { type: 'thinking', thinking: '', signature: '' },
        [
          ...block.pieces.map((thinking) => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature: block.signature },
        ],
      ];
    case 'text':
      return [{ type: 'text', text: '' }, block.pieces.map((text) => ({ type: 'text_delta', text }))];
    case 'tool_use': {
      const pieces = inputPieces(JSON.stringify(block.input));
      return [
        { type: 'tool_use', id: block.id, name: block.name, input: {} },
        pieces.map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
      ];
    }
    default:
      return [block, []];
  }
}

/** An empty piece first; an input without anything in it sends nothing else. */
function inputPieces(json: string): string[] {
  if (json === '{}') return [''];
  const characters = Array.from(json);
  const count = Math.ceil(characters.length / INPUT_PIECE);
  const piece = (index: number) => characters.slice(index * INPUT_PIECE, (index + 1) * INPUT_PIECE).join('');
  return ['', ...Array.from({ length: count }, (_, index) => piece(index))];
}
