/** What the gateway itself relies on: the model and the verb stand in the path, the form of a stream in the query. */
import {
  type CallHead,
  GatewayError,
  googleError,
  invalidType,
  type JsonObject,
  type JsonValue,
  optionalCount,
} from '../../../engine/plugin.ts';
import { type GeminiCall, listOf, messageAt, optionalMessage } from './fields.ts';

const streaming = ':streamGenerateContent';
const verb = /:(?:generateContent|streamGenerateContent|countTokens)$/;

export function readCall(body: JsonObject, head: CallHead): GeminiCall {
  const request = messageAt(body, 'body');
  checkContents(request);
  const config = optionalMessage(request.generationConfig, 'generationConfig');
  const stream = head.path.endsWith(streaming);
  return {
    kind: 'chat',
    model: modelOf(head),
    stream,
    wantsUsage: true,
    maxOutputTokens: optionalCount(config, 'maxOutputTokens', 1),
    choices: optionalCount(config, 'candidateCount', 1) ?? 1,
    body,
    array: stream && wantsArray(head),
  };
}

const wantsArray = ({ query }: CallHead): boolean => new URLSearchParams(query).get('alt') !== 'sse';

/** A stream that was asked for as an array is one also where it fails before it begins. */
export function encodeError(error: GatewayError, requestId: string, head?: CallHead): JsonValue {
  const body = googleError(error, requestId);
  return head?.path.endsWith(streaming) && wantsArray(head) ? [body] : body;
}

/** Names may hold slashes and colons, and may be percent-encoded. */
function modelOf({ parameter }: CallHead): string {
  const name = parameter.replace(verb, '');
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function checkContents({ contents }: JsonObject): void {
  if (contents === undefined)
    throw new GatewayError('missing_required_parameter', '`contents` is required.', { param: 'contents' });
  const list = listOf(contents);
  if (list.length === 0)
    throw new GatewayError('invalid_value', '`contents` needs at least one content.', { param: 'contents' });
  for (const [index, content] of list.entries()) {
    const { parts, role } = messageAt(content, `contents[${index}]`);
    if (parts !== undefined && typeof parts !== 'object') throw invalidType(`contents[${index}].parts`, 'an array');
    if (role !== undefined && typeof role !== 'string') throw invalidType(`contents[${index}].role`, 'a string');
  }
}
