/** Routes that are one question and one answer: JSON or a form → call → offer → hooks → attempts. */
import type { DirectCall, DirectProtocol, UploadedForm } from '../../contract/direct.ts';
import type { JsonObject, Log } from '../../contract/values.ts';
import { GatewayError } from '../../errors.ts';
import { readUpload, type Upload } from '../../http/upload.ts';
import type { Ending } from '../ending.ts';
import type { LiveExchange } from '../exchange.ts';
import { proceed, whenReady } from '../flow.ts';
import type { Operator } from '../operator.ts';
import { contentTypeOf, isForm, jsonBody } from '../request-body.ts';
import { resolveOffer } from '../resolve.ts';
import { DirectRun } from './run.ts';

export interface DirectOperatorParts {
  readonly ending: Ending;
  readonly log: Log;
  /** Folder for uploads that are too large for memory. */
  readonly uploads: string;
}

export function directOperator(
  protocol: DirectProtocol,
  receiveTimeout: number,
  { ending, log, uploads }: DirectOperatorParts,
): Operator {
  const client = protocol.client!;
  const accept = (exchange: LiveExchange, body: JsonObject, upload: Upload | null) => {
    const call = client.readCall(body, upload?.form ?? null);
    exchange.call = call;
    exchange.offer = resolveOffer(exchange, call.model);
    proceed(exchange, ending, () => {
      // `run` ends the exchange whatever happens; nothing is left to catch.
      void new DirectRun(exchange, exchange.call as DirectCall, ending, log, () => upload?.fault ?? null).run();
    });
  };
  const beginJson = jsonBody(receiveTimeout, ending, (exchange, body) => accept(exchange, body, null));
  const beginForm: Operator['begin'] = (exchange, native, ready) => {
    if (!isForm(exchange))
      throw new GatewayError('unsupported_content_type', 'Send the file as `multipart/form-data`.');
    const options = { folder: uploads, limit: exchange.route.bodyLimit, timeout: receiveTimeout };
    const reading = readUpload(native, exchange, contentTypeOf(exchange), options, (error, upload) => {
      whenReady(exchange, ready, error, ending, () => accept(exchange, fieldsOf(upload!.form), upload));
    });
    // Memory and disk are given back however the exchange ends.
    exchange.release = () => reading.close();
  };
  return { begin: client.accepts === 'form' ? beginForm : beginJson };
}

/** The first text field of each name. */
function fieldsOf({ parts }: UploadedForm): JsonObject {
  const fields: JsonObject = Object.create(null) as JsonObject;
  for (const part of parts) if (part.kind === 'field') fields[part.name] ??= part.value;
  return fields;
}
