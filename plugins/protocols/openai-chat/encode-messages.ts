/** Neutral messages as this protocol writes them. */
import {
  type ChatMessage,
  type ChatPart,
  type JsonObject,
  ownSignature,
  present,
  unsupported,
} from '../../../engine/plugin.ts';
import { encodeSignature } from './encode-extension.ts';
import { encodeContent } from './encode-part.ts';
import { protocolName } from './fields.ts';
import { encodeDetail } from './reasoning-details.ts';

type ToolResult = Extract<ChatPart, { type: 'tool-result' }>;
type ToolCall = Extract<ChatPart, { type: 'tool-call' }>;

/** `thoughts`: whether the vendor takes what was thought before. */
export function encodeMessages(messages: readonly ChatMessage[], thoughts: boolean): JsonObject[] {
  const written: JsonObject[] = [];
  // Tool messages hold text only: what else a result shows follows as the user's, behind the last result of the turn.
  let shown: ChatPart[] = [];
  const show = () => {
    if (shown.length > 0) written.push({ role: 'user', content: encodeContent(shown, 'messages') });
    shown = [];
  };
  for (const [index, message] of messages.entries()) {
    const place = `messages[${index}].content`;
    const results = message.parts.filter((part) => part.type === 'tool-result');
    const rest = message.parts.filter((part) => part.type !== 'tool-result');
    for (const result of results) {
      written.push(encodeResult(result));
      for (const part of result.parts) if (part.type !== 'text') shown.push(part);
    }
    if (results.length > 0 && rest.length === 0) continue;
    show();
    written.push(
      message.role === 'assistant'
        ? encodeAssistant(message, place, thoughts)
        : encodeOther({ ...message, parts: rest }, place),
    );
  }
  show();
  return written;
}

function encodeResult({ id, parts, error }: ToolResult): JsonObject {
  const texts = parts.filter((part) => part.type === 'text');
  // There is no word for a failed call.
  const said: ChatPart[] = error ? [{ type: 'text', text: 'Error: ' }, ...texts] : texts;
  const joined = said.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return { role: 'tool', tool_call_id: id, content: error ? joined : encodeContent(texts, 'messages') };
}

function encodeOther({ role, name, parts }: ChatMessage, place: string): JsonObject {
  return {
    role: role === 'tool' ? 'user' : role,
    ...(name === undefined ? {} : { name }),
    content: encodeContent(parts, place),
  };
}

/** What another protocol's vendor signed, this one could not check: it is left out. */
function encodeAssistant({ name, parts }: ChatMessage, place: string, thoughts: boolean): JsonObject {
  const texts: ChatPart[] = [];
  const calls: ToolCall[] = [];
  let reasoning = '';
  const details: JsonObject[] = [];
  let refusal = '';
  for (const part of parts) {
    if (part.type === 'text') texts.push(part);
    else if (part.type === 'tool-call') calls.push(part);
    else if (part.type === 'refusal') refusal += part.text;
    else if (part.type !== 'reasoning')
      throw unsupported(place, `cannot hold a part of the type ${part.type} in an assistant’s message.`);
    else if (!thoughts) continue;
    else if (part.signature === null) reasoning += part.text;
    else {
      const own = ownSignature(protocolName, part.signature);
      if (own !== null) details.push(encodeDetail(part.text, own));
    }
  }
  return {
    role: 'assistant',
    ...(name === undefined ? {} : { name }),
    // Only beside something else may there be no content.
    content: texts.length === 0 && (calls.length > 0 || refusal !== '') ? null : encodeContent(texts, place),
    ...present({
      reasoning_content: reasoning || null,
      reasoning_details: details,
      refusal: refusal || null,
      tool_calls: calls.map(encodeCall),
    }),
  };
}

function encodeCall(call: ToolCall): JsonObject {
  const signature = ownSignature(protocolName, call.signature) ?? undefined;
  const called = { name: call.name, arguments: call.arguments };
  return { id: call.id, type: 'function', function: called, ...encodeSignature(signature) };
}
