import { jsonAnswer } from './answers.ts';
import type { Answer, RequestBody } from './contract.ts';
import { FaultError } from './faults/fault.ts';
import type { FaultRule, FaultRules } from './faults/rules.ts';
import type { ReceivedLog, ReceivedRequest } from './received.ts';

export const CONTROL_PREFIX = '/_control';

/** `GET|POST|DELETE /_control/faults` and `GET|DELETE /_control/received`. */
export function answerControl(
  method: string,
  path: string,
  body: RequestBody,
  rules: FaultRules,
  received: ReceivedLog,
): Answer {
  switch (`${method} ${path.slice(CONTROL_PREFIX.length)}`) {
    case 'GET /faults':
      return jsonAnswer(200, { rules: rules.list() });
    case 'POST /faults':
      return addRules(body, rules);
    case 'DELETE /faults':
      rules.clear();
      return jsonAnswer(200, {});
    case 'GET /received':
      return jsonAnswer(200, { received: received.requests.map(describeRequest) });
    case 'DELETE /received':
      received.clear();
      return jsonAnswer(200, {});
    default:
      return problem(404, 'known are GET, POST, DELETE /_control/faults and GET, DELETE /_control/received');
  }
}

function addRules(body: RequestBody, rules: FaultRules): Answer {
  if (body.kind !== 'json') return problem(400, 'the body must be JSON: one rule or an array of rules');
  try {
    rules.add(...((Array.isArray(body.value) ? body.value : [body.value]) as FaultRule[]));
  } catch (error) {
    if (error instanceof FaultError) return problem(400, error.message);
    throw error;
  }
  return jsonAnswer(200, { rules: rules.list() });
}

/** Everything but raw bytes; files of a form are told by their length. */
function describeRequest(request: ReceivedRequest): unknown {
  const { raw, ...rest } = request;
  return { ...rest, bytes: raw.length, body: describeBody(request.body) };
}

function describeBody(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('files' in body) || !Array.isArray(body.files)) return body;
  return {
    ...body,
    files: body.files.map((file) => (Buffer.isBuffer(file?.bytes) ? { ...file, bytes: file.bytes.length } : file)),
  };
}

function problem(status: number, message: string): Answer {
  return jsonAnswer(status, { error: `simulator: ${message}` });
}
