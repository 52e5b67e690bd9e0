import { dataFrame, eventFrame, streamAnswer } from '../../answers.ts';
import type { Answer, Frame } from '../../contract.ts';
import { logprobOf } from './chat-answer.ts';
import { openaiHeaders } from './errors.ts';
import type { Item } from './responses-items.ts';
import type { ResponseObject } from './responses-object.ts';
import type { Outcome, Produced, Question } from './responses-outcome.ts';

const PADDING = 'aZ3kQ9xW7mB1vT5c';

/** Collects the events of one stream and numbers them. */
interface Events {
  readonly frames: Frame[];
  push(type: string, fields: object): void;
  /** Put together from text: only the piece is serialized for each. */
  pushDeltas(type: string, place: object, pieces: readonly string[], logprobs?: boolean): void;
}

function createEvents(images: readonly Buffer[], padded: boolean): Events {
  const frames: Frame[] = [];
  return {
    frames,
    push(type, fields) {
      frames.push(eventFrame(type, { type, sequence_number: frames.length, ...fields }, images));
    },
    pushDeltas(type, place, pieces, logprobs) {
      const head = `event: ${type}\ndata: {"type":"${type}",${JSON.stringify(place).slice(1, -1)}`;
      for (const piece of pieces) {
        const text = JSON.stringify(piece);
        const extra =
          logprobs === undefined ? '' : `,"logprobs":${logprobs ? JSON.stringify([logprobOf(piece)]) : '[]'}`;
        const padding = padded ? `,"obfuscation":"${PADDING.slice(text.length % PADDING.length)}"` : '';
        frames.push(dataFrame(`${head},"sequence_number":${frames.length},"delta":${text}${extra}${padding}}\n\n`));
      }
    },
  };
}

/** Every event in the documented order, from `response.created` to the one terminal event. */
export function streamResponse(
  opening: ResponseObject,
  end: ResponseObject,
  outcome: Outcome,
  question: Question,
): Answer {
  const padded = question.request.stream_options?.include_obfuscation !== false;
  const events = createEvents(outcome.images, padded);
  events.push('response.created', { response: opening });
  events.push('response.in_progress', { response: opening });
  for (const [index, { item, pieces }] of outcome.produced.entries()) {
    events.push('response.output_item.added', { output_index: index, item: unfilled(item) });
    WRITERS[item.type]!(events, { item_id: item.id, output_index: index }, { item, pieces });
    events.push('response.output_item.done', { output_index: index, item });
  }
  events.push(`response.${end.status}`, { response: end });
  const frames = events.frames.map(
    (frame, index): Frame => (index === events.frames.length - 1 ? { ...frame, kind: 'done' } : frame),
  );
  return streamAnswer(frames, question.steering.delay, openaiHeaders());
}

/** An item as it is announced, before anything of it has been sent. */
function unfilled(item: Item): object {
  const status = { status: 'in_progress' };
  if (item.type === 'message') return { ...item, ...status, content: [] };
  if (item.type === 'function_call') return { ...item, ...status, arguments: '' };
  if (item.type === 'custom_tool_call') return { ...item, ...status, input: '' };
  if (item.type === 'reasoning') return { id: item.id, type: item.type, summary: [] };
  return { id: item.id, type: item.type, ...status };
}

type Write = (events: Events, place: object, produced: Produced) => void;

const WRITERS: Record<string, Write> = {
  message: writeMessage,
  reasoning: writeReasoning,
  image_generation_call: writeImage,
  function_call(events, place, { item, pieces }) {
    events.pushDeltas('response.function_call_arguments.delta', place, pieces);
    events.push('response.function_call_arguments.done', { ...place, name: item.name, arguments: item.arguments });
  },
  custom_tool_call(events, place, { item, pieces }) {
    events.pushDeltas('response.custom_tool_call_input.delta', place, pieces);
    events.push('response.custom_tool_call_input.done', { ...place, input: item.input });
  },
};

interface Part {
  readonly type: string;
  readonly text: string;
  readonly refusal: string;
  readonly logprobs: readonly unknown[];
}

function writeMessage(events: Events, place: object, { item, pieces }: Produced): void {
  const part = (item.content as Part[])[0]!;
  const at = { ...place, content_index: 0 };
  const isText = part.type === 'output_text';
  const empty = isText ? { ...part, text: '', logprobs: [] } : { ...part, refusal: '' };
  events.push('response.content_part.added', { ...at, part: empty });
  if (isText) {
    events.pushDeltas('response.output_text.delta', at, pieces, part.logprobs.length > 0);
    events.push('response.output_text.done', { ...at, text: part.text, logprobs: part.logprobs });
  } else {
    events.pushDeltas('response.refusal.delta', at, pieces);
    events.push('response.refusal.done', { ...at, refusal: part.refusal });
  }
  events.push('response.content_part.done', { ...at, part });
}

function writeReasoning(events: Events, place: object, { item, pieces }: Produced): void {
  const [part] = item.summary as { type: string; text: string }[];
  if (!part) return;
  const at = { ...place, summary_index: 0 };
  events.push('response.reasoning_summary_part.added', { ...at, part: { ...part, text: '' } });
  events.pushDeltas('response.reasoning_summary_text.delta', at, pieces);
  events.push('response.reasoning_summary_text.done', { ...at, text: part.text });
  events.push('response.reasoning_summary_part.done', { ...at, part });
}

function writeImage(events: Events, place: object, { item, pieces }: Produced): void {
  const { size, quality, background, output_format } = item;
  events.push('response.image_generation_call.in_progress', place);
  events.push('response.image_generation_call.generating', place);
  for (const [index, slot] of pieces.entries()) {
    const picture = { partial_image_index: index, partial_image_b64: slot, size, quality, background, output_format };
    events.push('response.image_generation_call.partial_image', { ...place, ...picture });
  }
  events.push('response.image_generation_call.completed', place);
}
