/** Input items as neutral messages: what an assistant did in a row is one message. */
import {
  arrayAt,
  type ChatMessage,
  type ChatPart,
  customToolArguments,
  GatewayError,
  type JsonObject,
  type JsonValue,
  objectAt,
  signatureOf,
  stringAt,
  stringOrNull,
  unsupported,
} from '../../../engine/plugin.ts';
import { openCallSignature, openSummary, summaryText, unsigned } from './compaction.ts';
import { decodeContent } from './decode-part.ts';
import { protocolName, textOf } from './fields.ts';

const roles: Readonly<Record<string, ChatMessage['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
};

/** One text is one user message. */
export function decodeInput(input: JsonValue | undefined): ChatMessage[] {
  if (input === undefined || input === null) return [];
  if (typeof input === 'string') return [{ role: 'user', parts: [{ type: 'text', text: input }] }];
  const messages: { role: ChatMessage['role']; parts: ChatPart[] }[] = [];
  const signatures = new Map<string, string>();
  for (const [index, value] of arrayAt(input, 'input').entries()) {
    const message = decodeItem(objectAt(value, `input[${index}]`), `input[${index}]`, signatures);
    if (message === null) continue;
    const last = messages.at(-1);
    if (message.role === 'assistant' && last?.role === 'assistant')
      for (const part of message.parts) last.parts.push(part);
    else messages.push({ role: message.role, parts: [...message.parts] });
  }
  return messages;
}

/** Null for what says nothing. */
function decodeItem(item: JsonObject, place: string, signatures: Map<string, string>): ChatMessage | null {
  const type = stringOrNull(item.type, `${place}.type`) ?? 'message';
  switch (type) {
    case 'message':
      return decodeMessage(item, place);
    case 'function_call':
      return assistant(decodeCall(item, stringAt(item.arguments, `${place}.arguments`), place, signatures));
    case 'custom_tool_call':
      return assistant(
        decodeCall(item, customToolArguments(stringAt(item.input, `${place}.input`)), place, signatures),
      );
    case 'function_call_output':
    case 'custom_tool_call_output':
      return decodeOutput(item, place);
    case 'reasoning':
      return decodeReasoning(item, signatures);
    case 'compaction':
      return decodeCompaction(item, place);
    case 'image_generation_call':
      return decodeDrawn(item);
    case 'item_reference':
      throw new GatewayError('invalid_value', `\`${place}\` names an item that is not stored. Send the item itself.`, {
        param: place,
      });
    default:
      throw unsupported(`${place}.type`, `\`${type.slice(0, 60)}\` cannot be carried to this model’s vendor.`);
  }
}

const assistant = (...parts: ChatPart[]): ChatMessage => ({ role: 'assistant', parts });

function decodeMessage(item: JsonObject, place: string): ChatMessage {
  const role = stringAt(item.role, `${place}.role`);
  if (!Object.hasOwn(roles, role))
    throw new GatewayError('invalid_value', `\`${place}.role\` must be one of ${Object.keys(roles).join(', ')}.`, {
      param: `${place}.role`,
    });
  return { role: roles[role]!, parts: decodeContent(item.content, `${place}.content`) };
}

function decodeCall(item: JsonObject, text: string, place: string, signatures: Map<string, string>): ChatPart {
  const id = stringAt(item.call_id, `${place}.call_id`);
  const signature = signatures.get(id);
  const name = stringAt(item.name, `${place}.name`);
  return { type: 'tool-call', id, name, arguments: text, ...(signature === undefined ? {} : { signature }) };
}

function decodeOutput(item: JsonObject, place: string): ChatMessage {
  const id = stringAt(item.call_id, `${place}.call_id`);
  const parts = decodeContent(item.output, `${place}.output`);
  return { role: 'tool', parts: [{ type: 'tool-result', id, parts, error: false }] };
}

/** Pieces of a thought stand in `summary`, of open models in `content`. */
function decodeReasoning(item: JsonObject, signatures: Map<string, string>): ChatMessage | null {
  const content = textOf(item.encrypted_content);
  const ofCall = openCallSignature(content);
  if (ofCall !== null) {
    signatures.set(...ofCall);
    return null;
  }
  const text = thoughtText(item);
  if (text === '' && content === '') return null;
  const signature = content === '' || content === unsigned ? null : signatureOf(protocolName, content);
  return assistant({ type: 'reasoning', text, signature });
}

/** The paragraphs of a thought. */
export function thoughtText({ summary, content }: JsonObject): string {
  const pieces = [summary, content].find((list) => Array.isArray(list) && list.length > 0);
  if (!Array.isArray(pieces)) return '';
  return pieces
    .map((piece) => (typeof piece === 'object' && piece !== null ? textOf((piece as JsonObject).text) : ''))
    .join('\n\n');
}

function decodeCompaction({ encrypted_content }: JsonObject, place: string): ChatMessage {
  const summary = openSummary(encrypted_content);
  if (summary === null)
    throw unsupported(place, 'was compacted by another vendor, and only that one can read it. Use its model.');
  return { role: 'user', parts: [{ type: 'text', text: summaryText(summary) }] };
}

/** No assistant of another protocol has pictures of its own: it is shown what it drew. */
function decodeDrawn({ result, output_format }: JsonObject): ChatMessage | null {
  if (typeof result !== 'string' || result === '') return null;
  const mediaType = `image/${textOf(output_format) || 'png'}`;
  const parts: ChatPart[] = [
    { type: 'text', text: 'The image that was drawn:' },
    { type: 'image', mediaType, data: result, url: null },
  ];
  return { role: 'user', parts };
}
