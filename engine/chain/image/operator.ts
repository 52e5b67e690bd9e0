/** Image routes: JSON or multipart → call → offer → normalizer and hooks → attempts. */
import type { ImageBody, ImageCall, ImageProtocol } from '../../contract/image.ts';
import { GatewayError } from '../../errors.ts';
import type { LiveExchange } from '../exchange.ts';
import { proceed } from '../flow.ts';
import type { Operator } from '../operator.ts';
import { isForm, jsonOrFormBody } from '../request-body.ts';
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
  const receive = jsonOrFormBody(receiveTimeout, ending, accept);
  return {
    begin(exchange, native, ready) {
      const form = isForm(exchange);
      if (operation === 'edit' && !form) throw new GatewayError('missing_image', undefined, { param: 'image' });
      if (operation === 'generate' && form)
        throw new GatewayError(
          'unsupported_content_type',
          'Image generation takes `application/json`; multipart/form-data is for /images/edits.',
        );
      receive(exchange, native, ready);
    },
  };
}
