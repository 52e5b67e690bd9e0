/** How operators get a request's body: read while the head is still being checked, handed on once both are there. */
import type { ImageBody } from '../contract/image.ts';
import type { JsonObject } from '../contract/values.ts';
import { GatewayError } from '../errors.ts';
import { readBody, tooLarge } from '../http/body.ts';
import { parseObject, requireJson } from '../http/json-body.ts';
import { readMultipart } from '../http/multipart.ts';
import type { Ending } from './ending.ts';
import type { LiveExchange } from './exchange.ts';
import { whenReady } from './flow.ts';
import type { Operator } from './operator.ts';

type Begin = Operator['begin'];

export const contentTypeOf = (exchange: LiveExchange): string => exchange.headers['content-type'] ?? '';

export const isForm = (exchange: LiveExchange): boolean => /^multipart\/form-data\b/i.test(contentTypeOf(exchange));

/** Vendors written in Go read names in any case: two that differ in nothing else would be another request to them. */
function refuseTwins(value: JsonObject): JsonObject {
  for (const name of Object.keys(value)) {
    const plain = name.toLowerCase();
    if (plain !== name && Object.hasOwn(value, plain))
      throw new GatewayError(
        'invalid_value',
        `\`${name.slice(0, 60)}\` and \`${plain.slice(0, 60)}\` are one parameter.`,
        {
          param: plain.slice(0, 60),
        },
      );
  }
  return value;
}

/** What is announced to be too large is not waited for. */
function refuseAnnounced({ headers, route }: LiveExchange): void {
  if (Number(headers['content-length'] ?? 0) > route.bodyLimit) throw tooLarge(route.bodyLimit);
}

/** Takes one JSON object, nothing else. `receiveTimeout`: ms for the whole body. */
export function jsonBody(
  receiveTimeout: number,
  ending: Ending,
  accept: (exchange: LiveExchange, value: JsonObject) => void,
): Begin {
  const parse = (exchange: LiveExchange) => accept(exchange, refuseTwins(parseObject(exchange.body)));
  return (exchange, native, ready) => {
    requireJson(contentTypeOf(exchange));
    refuseAnnounced(exchange);
    readBody(native, exchange, exchange.route.bodyLimit, receiveTimeout, (error, bytes) => {
      exchange.body = bytes;
      whenReady(exchange, ready, error, ending, parse);
    });
  };
}

/** Takes one JSON object or a form whose files are kept in memory. */
export function jsonOrFormBody(
  receiveTimeout: number,
  ending: Ending,
  accept: (exchange: LiveExchange, body: ImageBody) => void,
): Begin {
  const json = jsonBody(receiveTimeout, ending, (exchange, value) => accept(exchange, { kind: 'json', value }));
  return (exchange, native, ready) => {
    if (!isForm(exchange)) return json(exchange, native, ready);
    refuseAnnounced(exchange);
    const type = contentTypeOf(exchange);
    const reading = readMultipart(native, exchange, type, exchange.route.bodyLimit, receiveTimeout, (error, body) => {
      whenReady(exchange, ready, error, ending, () => accept(exchange, body!));
    });
    // What has arrived of an upload must not stay in memory until the deadline.
    exchange.onAbort(() => reading.cancel());
  };
}
