/** What the assistant said in an earlier turn, in neutral form. */
import {
  type ChatPart,
  type JsonObject,
  type JsonValue,
  objectAt,
  signatureOf,
  stringAt,
  stringOrNull,
} from '../../../engine/plugin.ts';
import { decodeBlock } from './decode-block.ts';
import { protocolName } from './fields.ts';
import { callSignature, redactedSignature } from './signatures.ts';

/** A thought that only holds the signature of the call behind it becomes part of that call. */
export function decodeAssistant(blocks: readonly JsonValue[], place: string): ChatPart[] {
  const parts: ChatPart[] = [];
  let signature: string | null = null;
  for (const [index, value] of blocks.entries()) {
    const at = `${place}[${index}]`;
    const block = objectAt(value, at);
    const ofCall = block.type === 'thinking' ? callSignature(block.signature) : null;
    if (ofCall !== null) signature = ofCall;
    else if (block.type === 'tool_use') {
      parts.push(decodeCall(block, at, signature));
      signature = null;
    } else parts.push(...decodeSaid(block, at));
  }
  return parts;
}

function decodeSaid(block: JsonObject, place: string): ChatPart[] {
  if (block.type === 'redacted_thinking')
    return [{ type: 'reasoning', text: '', signature: redactedSignature(stringAt(block.data, `${place}.data`)) }];
  return block.type === 'thinking' ? [decodeThought(block, place)] : decodeBlock(block, place);
}

function decodeThought(block: JsonObject, place: string): ChatPart {
  const given = stringOrNull(block.signature, `${place}.signature`) ?? '';
  return {
    type: 'reasoning',
    text: stringAt(block.thinking, `${place}.thinking`),
    signature: given === '' ? null : signatureOf(protocolName, given),
  };
}

function decodeCall(block: JsonObject, place: string, signature: string | null): ChatPart {
  return {
    type: 'tool-call',
    id: stringAt(block.id, `${place}.id`),
    name: stringAt(block.name, `${place}.name`),
    arguments: JSON.stringify(objectAt(block.input ?? {}, `${place}.input`)),
    ...(signature === null ? {} : { signature }),
  };
}
