/** What the gateway itself relies on; all else is the vendor's business. */
import {
  arrayAt,
  type ChatCall,
  GatewayError,
  type JsonObject,
  objectAt,
  optionalBoolean,
  optionalCount,
  requiredString,
  stringAt,
} from '../../../engine/plugin.ts';

export function readCall(body: JsonObject): ChatCall {
  const call = readConversation(body);
  // 0 asks for nothing but a warm cache.
  const maxOutputTokens = optionalCount(body, 'max_tokens', 0);
  if (maxOutputTokens === null) throw missing('max_tokens');
  return { ...call, stream: optionalBoolean(body, 'stream'), maxOutputTokens };
}

/** The same without an answer, which tokens are counted of. */
export function readConversation(body: JsonObject): ChatCall {
  const model = requiredString(body, 'model');
  refuseThread(body);
  checkMessages(body);
  return { kind: 'chat', model, stream: false, wantsUsage: true, maxOutputTokens: null, choices: 1, body };
}

/**
 * Vendor accounts are shared: a thread of one user could be named by another. SDKs know the code, and send the whole
 * conversation.
 */
function refuseThread({ thread }: JsonObject): void {
  if ((thread ?? null) === null) return;
  throw new GatewayError('unsupported_parameter', '`thread` is not supported. Send the whole conversation.', {
    param: 'thread',
    shownCode: 'thread_unsupported_request',
  });
}

const missing = (name: string) =>
  new GatewayError('missing_required_parameter', `\`${name}\` is required.`, { param: name });

function checkMessages({ messages }: JsonObject): void {
  if (messages === undefined || messages === null) throw missing('messages');
  const list = arrayAt(messages, 'messages');
  if (list.length === 0) {
    throw new GatewayError('invalid_value', '`messages` needs at least one message.', { param: 'messages' });
  }
  for (const [index, message] of list.entries()) {
    stringAt(objectAt(message, `messages[${index}]`).role, `messages[${index}].role`);
  }
}
