/** Image routes: JSON or multipart → call → offer → normalizer and hooks → attempts. */
import type { ImageBody, ImageCall, ImageProtocol } from '../../contract/image.ts';
import { GatewayError } from '../../errors.ts';
import { readBody } from '../../http/body.ts';
import { parseObject, requireJson } from '../../http/json-body.ts';
import { readMultipart } from '../../http/multipart.ts';
import type { LiveExchange } from '../exchange.ts';
import { proceed, whenReady } from '../flow.ts';
import type { Operator } from '../operator.ts';
import { resolveOffer } from '../resolve.ts';
import { ImageRun, type ImageRunParts } from './run.ts';

export function imageOperator(
  operation: 'generate' | 'edit',
  codec: NonNullable<ImageProtocol['client']>,
  receiveTimeout: number,
  parts: Omit<ImageRunParts, 'writer'>,
): Operator {
  const { ending } = parts;
  const go = (exchange: LiveExchange) => {
    // `run` ends the exchange whatever happens; nothing is left to catch.
    void new ImageRun(exchange, exchange.call as ImageCall, { ...parts, writer: codec }).run();
  };
  const accept = (exchange: LiveExchange, body: ImageBody) => {
    const call = codec.readCall(operation, body);
    exchange.call = call;
    exchange.offer = resolveOffer(exchange, call.model);
    proceed(exchange, ending, go);
  };
  const begin: Operator['begin'] = (exchange, native, ready) => {
    const contentType = exchange.headers['content-type'] ?? '';
    const { bodyLimit } = exchange.route;
    if (/^multipart\/form-data\b/i.test(contentType)) {
      if (operation === 'generate')
        throw new GatewayError(
          'unsupported_content_type',
          'Image generation takes `application/json`; multipart/form-data is for /images/edits.',
        );
      const reading = readMultipart(native, exchange, contentType, bodyLimit, receiveTimeout, (error, body) => {
        whenReady(exchange, ready, error, ending, () => accept(exchange, body!));
      });
      // What has arrived of an upload must not stay in memory until the deadline.
      exchange.onAbort(() => reading.cancel());
      return;
    }
    if (operation === 'edit') throw new GatewayError('missing_image', undefined, { param: 'image' });
    requireJson(contentType);
    const reading = readBody(native, exchange, bodyLimit, receiveTimeout, (error, bytes) => {
      exchange.body = bytes;
      whenReady(exchange, ready, error, ending, () => accept(exchange, { kind: 'json', value: parseObject(bytes) }));
    });
    exchange.onAbort(() => reading.cancel());
  };
  return { begin };
}
