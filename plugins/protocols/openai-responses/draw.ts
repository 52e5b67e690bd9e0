/**
 * Images asked for with a response, by clients that know no image route: the last user message is the prompt, its
 * pictures are the references, else the one drawn last, and the settings are those of the `image_generation` tool.
 */
import {
  type ChatCall,
  type ChatImages,
  type ClientImageEvent,
  type DeliveredImage,
  drawingAskedIn,
  drawnCall,
  GatewayError,
  type ImageResult,
  type InlineImage,
  isObject,
  type JsonObject,
  type JsonValue,
  openAiError,
  optionalCount,
  type Pieces,
  stringOrNull,
  type TokenUsage,
} from '../../../engine/plugin.ts';
import { decodeInput } from './decode-items.ts';
import { encodeStreamError, eventFrame } from './errors.ts';
import { formatOf } from './output-writer.ts';
import { newId, now, openingResponse } from './response-object.ts';
import { writeUsage } from './usage.ts';

export const images: ChatImages<ChatCall> = { readCall, writer: (call) => new DrawnResponse(call) };

function readCall({ model, stream, body }: ChatCall, edits: boolean) {
  const last = decodeInput(body.input).findLast(({ role }) => role === 'user');
  if (last === undefined)
    throw new GatewayError('invalid_value', '`input` needs a user message that says what to draw.', { param: 'input' });
  const tool = toolOf(body);
  return drawnCall({
    model,
    ...drawingAskedIn(last.parts, 'input', edits ? drawnBefore(body.input) : []),
    stream,
    responseFormat: 'b64_json',
    partialImages: optionalCount(tool, 'partial_images', 0),
    fields: fieldsOf(tool),
    extra: extraOf(tool),
  });
}

function drawnBefore(input: JsonValue | undefined): InlineImage[] {
  const items = (Array.isArray(input) ? input : []).filter(isObject);
  const data = items.findLast(({ type }) => type === 'image_generation_call')?.result;
  return typeof data === 'string' && data !== '' ? [{ data, mediaType: null, param: 'input' }] : [];
}

const toolOf = ({ tools }: JsonObject): JsonObject =>
  (Array.isArray(tools) ? tools : []).filter(isObject).find(({ type }) => type === 'image_generation') ?? {};

/** `auto` leaves it to the vendor, as if nothing was said. */
function fieldsOf(tool: JsonObject) {
  const text = (name: string) => {
    const value = stringOrNull(tool[name], `tools.${name}`);
    return value === 'auto' ? null : value;
  };
  return {
    n: optionalCount(tool, 'n', 1),
    size: text('size'),
    aspect_ratio: text('aspect_ratio'),
    resolution: text('resolution'),
    image_size: text('image_size'),
    quality: text('quality'),
  };
}

const passedSettings = ['background', 'output_format', 'output_compression', 'moderation', 'input_fidelity'];

const extraOf = (tool: JsonObject): JsonObject =>
  Object.fromEntries(passedSettings.flatMap((name) => ((tool[name] ?? null) === null ? [] : [[name, tool[name]!]])));

/** A finished picture: its item up to the Base64, which is never joined with it but for the last event. */
interface Drawn {
  readonly head: string;
  readonly base64: Buffer;
}

const nothing = Buffer.alloc(0);
/** What follows the Base64 of an item. */
const tail = '"}';

/** One answer: whole, or event by event. */
class DrawnResponse implements ReturnType<ChatImages<ChatCall>['writer']> {
  private readonly response: JsonObject;
  private readonly output: Drawn[] = [];
  private sequence = 0;
  private current: string | null = null;
  private usage: TokenUsage | null = null;

  constructor(call: ChatCall) {
    // Pictures are not kept: they are in the answer.
    this.response = openingResponse(null, { ...call, body: { ...call.body, store: false } });
  }

  encodeResult(delivered: readonly DeliveredImage[], result: ImageResult): Pieces {
    this.usage = result.usage;
    for (const image of delivered) this.output.push(drawnOf(newId('ig_'), image, result.extra));
    return this.whole();
  }

  encodeEvent(event: ClientImageEvent): Pieces {
    const opened = this.open();
    const place = { item_id: this.current!, output_index: this.output.length };
    if (event.type === 'partial') {
      const type = 'response.image_generation_call.partial_image';
      const members = { ...place, ...settingsOf(event.extra), partial_image_index: event.index };
      const head = this.frame(type, members).slice(0, -'}\n\n'.length);
      return [Buffer.from(`${opened}${head},"partial_image_b64":"`), event.base64, Buffer.from('"}\n\n')];
    }
    this.usage = event.usage ?? this.usage;
    const drawn = drawnOf(this.current!, event.image, event.extra);
    const completed = this.frame('response.image_generation_call.completed', place);
    const done = this.frame('response.output_item.done', { output_index: this.output.length });
    this.output.push(drawn);
    this.current = null;
    const head = `${opened}${completed}${done.slice(0, -'}\n\n'.length)},"item":${drawn.head}`;
    return [Buffer.from(head), drawn.base64, Buffer.from(`${tail}}\n\n`)];
  }

  get terminator(): string {
    const begun = this.begin();
    const head = this.frame('response.completed', {}).slice(0, -'}\n\n'.length);
    return `${begun}${head},"response":${Buffer.concat([...this.whole()]).toString('latin1')}}\n\n`;
  }

  encodeError = openAiError;

  encodeStreamError(error: GatewayError, requestId: string): string {
    return encodeStreamError(error, requestId, this.sequence === 0 ? null : this.response, this.sequence);
  }

  /** `response.created`, and the beginning of a picture, where they were not told yet. */
  private open(): string {
    const begun = this.begin();
    if (this.current !== null) return begun;
    this.current = newId('ig_');
    const item = { id: this.current, type: 'image_generation_call', status: 'in_progress' };
    const place = { item_id: this.current, output_index: this.output.length };
    return (
      begun +
      this.frame('response.output_item.added', { output_index: this.output.length, item }) +
      this.frame('response.image_generation_call.in_progress', place) +
      this.frame('response.image_generation_call.generating', place)
    );
  }

  private begin(): string {
    if (this.sequence > 0) return '';
    const { response } = this;
    return this.frame('response.created', { response }) + this.frame('response.in_progress', { response });
  }

  private frame(type: string, members: JsonObject): string {
    return eventFrame({ type, sequence_number: this.sequence++, ...members });
  }

  /** The response at its end, its output last. */
  private whole(): Pieces {
    const { output: _empty, ...rest } = this.response;
    const end = { ...rest, status: 'completed', completed_at: now(), usage: writeUsage(this.usage) };
    // ASCII throughout, so that a character is a byte.
    const pieces: Buffer[] = [Buffer.from(`${ascii(JSON.stringify(end)).slice(0, -1)},"output":[`)];
    for (const [index, { head, base64 }] of this.output.entries())
      pieces.push(Buffer.from(`${index === 0 ? '' : ','}${head}`), base64, Buffer.from(tail));
    return [...pieces, Buffer.from(']}')];
  }
}

const ascii = (json: string): string =>
  json.replace(/[\u0080-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

function settingsOf(extra: JsonObject): JsonObject {
  const { size, quality, background, output_format } = extra;
  return {
    size: size ?? 'auto',
    quality: quality ?? 'auto',
    background: background ?? 'opaque',
    output_format: output_format ?? 'png',
  };
}

/** Format and size are what the bytes say. */
function drawnOf(id: string, image: DeliveredImage, extra: JsonObject): Drawn {
  const { width, height, mediaType, revisedPrompt, base64 } = image;
  const item = {
    id,
    type: 'image_generation_call',
    status: 'completed',
    action: 'generate',
    ...settingsOf(extra),
    ...(width === null || height === null ? {} : { size: `${width}x${height}` }),
    ...formatOf(mediaType),
    ...(revisedPrompt === null ? {} : { revised_prompt: revisedPrompt }),
  };
  return { head: `${ascii(JSON.stringify(item)).slice(0, -1)},"result":"`, base64: base64 ?? nothing };
}
