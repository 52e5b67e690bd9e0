import type { IncomingMessage, ServerResponse } from 'node:http';
import { jsonAnswer } from './answers.ts';
import { type Answer, type Call, Refused, type Vendor } from './contract.ts';
import { answerControl, CONTROL_PREFIX } from './control.ts';
import { deliver } from './deliver.ts';
import { applyFaults } from './faults/catalogue.ts';
import { type Fault, FaultError } from './faults/fault.ts';
import type { FaultRules } from './faults/rules.ts';
import type { Pictures } from './images/pictures.ts';
import { type ReceivedLog, type ReceivedRequest, recordedBody } from './received.ts';
import { BodyTooLarge, type Named, nameModel, parseBody, readBody } from './request.ts';
import { VENDORS } from './vendors/index.ts';

export interface Stage {
  readonly origin: string;
  readonly faults: FaultRules;
  readonly received: ReceivedLog;
  readonly pictures: Pictures;
}

const NO_QUERY = new URLSearchParams();
const NO_BODY = Buffer.alloc(0);

/** The listener of the HTTP server: one request, recorded, answered by its vendor, spoiled by its faults. */
export function createExchange(stage: Stage): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    answerRequest(stage, request, response).catch((error: unknown) => fail(request, response, error));
  };
}

async function answerRequest(stage: Stage, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { path, query } = splitTarget(request.url ?? '/');
  const vendor = VENDORS.find(({ name }) => path.startsWith(`/${name}/`));
  if (vendor && stage.faults.takeReset({ vendor: vendor.name, path })) {
    stage.received.record(describe(vendor.name, request, undefined, NO_BODY));
    request.socket.resetAndDestroy();
    return;
  }
  const raw = await readBody(request);
  const body = parseBody(request.headers['content-type'], raw);
  if (!vendor) {
    deliver(response, answerPlain(stage, request.method ?? 'GET', path, body), describe('', request, undefined, raw));
    return;
  }
  const record = describe(vendor.name, request, recordedBody(body), raw);
  stage.received.record(record);
  const named = readName(path.slice(vendor.name.length + 1), body);
  if ('status' in named) return deliver(response, named, record);
  const fault = { ...stage.faults.take({ vendor: vendor.name, path, model: named.model }), ...named.fault };
  const { headers, method = 'GET' } = request;
  const { origin, pictures } = stage;
  const call = { ...named, method, query, headers, body, fault, origin, pictures, run: stage };
  deliver(response, applyFaults(handle(vendor, call), { vendor, call }), record);
}

function handle(vendor: Vendor, call: Call): Answer {
  try {
    return vendor.handle(call);
  } catch (error) {
    if (error instanceof Refused) return error.answer;
    throw error;
  }
}

function readName(path: string, body: Call['body']): (Named & { fault: Fault }) | Answer {
  try {
    return nameModel(path, body);
  } catch (error) {
    if (error instanceof FaultError) return jsonAnswer(400, { error: `simulator: ${error.message}` });
    throw error;
  }
}

function answerPlain(stage: Stage, method: string, path: string, body: Call['body']): Answer {
  if (path.startsWith(`${CONTROL_PREFIX}/`)) return answerControl(method, path, body, stage.faults, stage.received);
  const vendors = Object.fromEntries(VENDORS.map(({ name, basePath }) => [name, `${stage.origin}${basePath}`]));
  return jsonAnswer(path === '/' ? 200 : 404, { simulator: stage.origin, vendors, control: CONTROL_PREFIX });
}

function describe(vendor: string, request: IncomingMessage, body: unknown, raw: Buffer): ReceivedRequest {
  const { method = 'GET', headers, rawHeaders, url: path = '/' } = request;
  return { vendor, method, path, headers, rawHeaders, body, raw, at: Date.now(), aborted: false, status: 0, events: 0 };
}

/** An origin-form target (RFC 9112 3.2.1), the only one a server is sent; the query is parsed where there is one. */
function splitTarget(target: string): { path: string; query: URLSearchParams } {
  const mark = target.indexOf('?');
  if (mark < 0) return { path: decodePath(target), query: NO_QUERY };
  return { path: decodePath(target.slice(0, mark)), query: new URLSearchParams(target.slice(mark + 1)) };
}

function decodePath(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch (error) {
    if (error instanceof URIError) return path;
    throw error;
  }
}

/** A client that left while it was sending needs no answer; anything else is a fault of the simulator and says so. */
function fail(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  if (response.destroyed || request.destroyed || response.headersSent) {
    response.destroy();
    return;
  }
  const tooLarge = error instanceof BodyTooLarge;
  const message = error instanceof Error ? error.message : String(error);
  response.writeHead(tooLarge ? 413 : 500, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify({ error: `simulator: ${message}` }));
}
