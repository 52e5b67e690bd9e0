/** What the gateway itself relies on (spec 2.8); all else is the vendor's business. */
import {
  arrayAt,
  type ChatCall,
  GatewayError,
  isObject,
  type JsonObject,
  numberOrNull,
  objectAt,
  optionalBoolean,
  optionalCount,
  requiredString,
  stringAt,
  wantsUsage,
} from '../../../engine/plugin.ts';

export function readCall(body: JsonObject): ChatCall {
  const model = requiredString(body, 'model');
  checkMessages(body);
  numberOrNull(body.temperature, 'temperature');
  const stream = optionalBoolean(body, 'stream');
  const longest = optionalCount(body, 'max_tokens', 1);
  return {
    kind: 'chat',
    model,
    stream,
    wantsUsage: wantsUsage(body, stream),
    maxOutputTokens: optionalCount(body, 'max_completion_tokens', 1) ?? longest,
    choices: optionalCount(body, 'n', 1) ?? 1,
    body,
  };
}

function checkMessages({ messages }: JsonObject): void {
  if (messages === undefined || messages === null) {
    throw new GatewayError('missing_required_parameter', '`messages` is required.', { param: 'messages' });
  }
  const list = arrayAt(messages, 'messages');
  if (list.length === 0) {
    throw new GatewayError('invalid_value', '`messages` needs at least one message.', { param: 'messages' });
  }
  for (let index = 0; index < list.length; index++) {
    const message = list[index];
    // The names are put together only where one of them is told.
    if (isObject(message) && typeof message.role === 'string') continue;
    stringAt(objectAt(message, `messages[${index}]`).role, `messages[${index}].role`);
  }
}
