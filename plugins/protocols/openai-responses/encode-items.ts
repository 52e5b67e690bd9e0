/** Neutral messages as input items for a vendor of this protocol. */
import {
  type ChatMessage,
  type ChatPart,
  customToolInput,
  dataUrl,
  imageUrl,
  type JsonObject,
  type JsonValue,
  ownSignature,
  unsupported,
} from '../../../engine/plugin.ts';
import { protocolName } from './fields.ts';

type Part<T extends ChatPart['type']> = Extract<ChatPart, { type: T }>;

/** `custom`: names of the tools that take plain text. */
export function encodeInput(messages: readonly ChatMessage[], custom: ReadonlySet<string>): JsonObject[] {
  const customCalls = new Set<string>();
  return messages.flatMap((message, index) =>
    message.role === 'assistant'
      ? encodeAssistant(message, custom, customCalls, `messages[${index}].content`)
      : encodeOther(message, customCalls, `messages[${index}].content`),
  );
}

/** Results first: they answer the calls of the turn before. */
function encodeOther({ role, parts }: ChatMessage, customCalls: ReadonlySet<string>, place: string): JsonObject[] {
  const results = parts.filter((part) => part.type === 'tool-result');
  const rest = parts.filter((part) => part.type !== 'tool-result');
  const items = results.map((result) => encodeResult(result, customCalls.has(result.id), place));
  if (rest.length === 0) return items;
  return [
    ...items,
    messageItem(
      role === 'system' ? 'developer' : 'user',
      rest.map((part) => inputPart(part, place)),
    ),
  ];
}

const messageItem = (role: string, content: JsonValue): JsonObject => ({ type: 'message', role, content });

function encodeResult({ id, parts, error }: Part<'tool-result'>, isCustom: boolean, place: string): JsonObject {
  const type = isCustom ? 'custom_tool_call_output' : 'function_call_output';
  const [first] = parts;
  const marked = error ? 'Error: ' : '';
  if (parts.length === 0 || (parts.length === 1 && first?.type === 'text'))
    return { type, call_id: id, output: marked + (first?.type === 'text' ? first.text : '') };
  const output = parts.map((part) => inputPart(part, place));
  return { type, call_id: id, output: error ? [{ type: 'input_text', text: 'Error:' }, ...output] : output };
}

function inputPart(part: ChatPart, place: string): JsonObject {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text };
    case 'image': {
      return { type: 'input_image', image_url: imageUrl(part), detail: part.detail ?? 'auto' };
    }
    case 'file':
      return { type: 'input_file', ...encodeFile(part) };
    default:
      throw unsupported(place, `cannot hold a part of the type ${part.type} here.`);
  }
}

function encodeFile({ id, url, data, name, mediaType }: Part<'file'>): JsonObject {
  if (id !== null) return { file_id: id };
  if (data === null) return { file_url: url ?? '' };
  return { filename: name ?? 'file', file_data: dataUrl(mediaType ?? 'application/pdf', data) };
}

/**
 * Items in the order in which they were said. A thought goes back only to the vendor that signed it, and only before
 * what followed from it: the vendor refuses one that stands alone.
 */
function encodeAssistant(
  { parts }: ChatMessage,
  custom: ReadonlySet<string>,
  customCalls: Set<string>,
  place: string,
): JsonObject[] {
  const items: JsonObject[] = [];
  let thoughts: JsonObject[] = [];
  let content: JsonObject[] = [];
  const say = () => {
    if (content.length > 0) items.push(messageItem('assistant', content));
    content = [];
  };
  const recall = () => {
    for (const thought of thoughts) items.push(thought);
    thoughts = [];
  };
  for (const part of parts) {
    if (part.type === 'reasoning') {
      say();
      thoughts.push(...encodeThought(part));
    } else if (part.type === 'tool-call') {
      say();
      recall();
      if (custom.has(part.name)) customCalls.add(part.id);
      items.push(encodeCall(part, custom.has(part.name)));
    } else {
      if (content.length === 0) recall();
      content.push(outputPart(part, place));
    }
  }
  say();
  return items;
}

function encodeThought({ text, signature }: Part<'reasoning'>): JsonObject[] {
  const encrypted_content = ownSignature(protocolName, signature);
  if (encrypted_content === null) return [];
  return [{ type: 'reasoning', summary: text === '' ? [] : [{ type: 'summary_text', text }], encrypted_content }];
}

function encodeCall({ id, name, arguments: text }: Part<'tool-call'>, isCustom: boolean): JsonObject {
  if (isCustom) return { type: 'custom_tool_call', call_id: id, name, input: customToolInput(text) };
  return { type: 'function_call', call_id: id, name, arguments: text };
}

function outputPart(part: ChatPart, place: string): JsonObject {
  if (part.type === 'text') return { type: 'output_text', text: part.text, annotations: [] };
  if (part.type === 'refusal') return { type: 'refusal', refusal: part.text };
  throw unsupported(place, `cannot hold a part of the type ${part.type} in an assistant’s message.`);
}

/** System text before the first turn is the instructions; what comes later stays in its place. */
export function splitInstructions(messages: readonly ChatMessage[]): {
  readonly instructions: string | null;
  readonly rest: readonly ChatMessage[];
} {
  const at = messages.findIndex(({ role }) => role !== 'system');
  const leading = messages.slice(0, at < 0 ? messages.length : at);
  const isText = leading.every(({ parts }) => parts.every((part) => part.type === 'text'));
  // A vendor needs some input.
  if (leading.length === 0 || !isText || at < 0) return { instructions: null, rest: messages };
  const texts = leading.flatMap(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')));
  return { instructions: texts.join('\n\n'), rest: messages.slice(at) };
}
