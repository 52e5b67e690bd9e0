import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { jsonAnswer, nextId } from '../answers.ts';
import { type Answer, type Call, Refused } from '../contract.ts';
import { deliver } from '../deliver.ts';
import type { Stage } from '../exchange.ts';
import { applyFaults } from '../faults/catalogue.ts';
import { type Fault, FaultError, readSuffix } from '../faults/fault.ts';
import type { ReceivedRequest, ReceivedSocket } from '../received.ts';
import { authorize, refuse } from '../vendors/openai/errors.ts';
import { modelFor } from '../vendors/openai/models.ts';
import { openai } from '../vendors/openai.ts';
import { handleFrame } from './client-events.ts';
import { Conversation } from './conversation.ts';
import { Outbox } from './outbox.ts';
import type { Session } from './session.ts';
import { standardSettings } from './settings.ts';

const PREFIX = '/openai';
const PATH = '/v1/realtime';
const SUBPROTOCOL = 'realtime';
const KEY_SUBPROTOCOL = 'openai-insecure-api-key.';
const LARGEST_FRAME = 33_554_432;
const NO_BODY = Buffer.alloc(0);
/** Of the faults, those that answer the handshake itself; the others wait for the events. */
const ANSWERED: readonly (keyof Fault)[] = ['status', 'error200', 'empty200', 'wrongtype'];

/** WebSockets beside the HTTP exchange: OpenAI's Realtime API. */
export interface Realtime {
  /** The listener of the HTTP server's `upgrade`. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Destroys every socket. */
  close(): void;
}

export function createRealtime(stage: Stage): Realtime {
  const sockets = new Set<Duplex>();
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: LARGEST_FRAME,
    handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
  });
  server.on('headers', (headers) => headers.push(`x-request-id: ${nextId('req_')}`));
  return {
    upgrade(request, socket, head) {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      socket.on('error', () => socket.destroy());
      shakeHands(stage, server, request, socket as Socket, head);
    },
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

function shakeHands(
  stage: Stage,
  server: WebSocketServer,
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
): void {
  const { pathname, searchParams } = new URL(request.url ?? '/', stage.origin);
  const record = describe(request);
  stage.received.record(record);
  const named = readModel(searchParams.get('model'));
  if ('status' in named) return answerWith(request, socket, named, record);
  const fault = { ...stage.faults.take({ vendor: openai.name, path: pathname, model: named.model }), ...named.fault };
  if (fault.reset) {
    socket.resetAndDestroy();
    return;
  }
  const call = callOf(stage, request, pathname, searchParams, named.model, fault);
  const refusal = refusalOf(call);
  if (refusal) return answerWith(request, socket, { ...refusal, latency: fault.latency ?? 0 }, record);
  const accept = (): void => {
    if (!socket.destroyed) server.handleUpgrade(request, socket, head, (opened) => open(stage, opened, call, record));
  };
  if (fault.latency) setTimeout(accept, fault.latency);
  else accept();
}

function describe(request: IncomingMessage): ReceivedRequest {
  const { method = 'GET', headers, rawHeaders, url: path = '/' } = request;
  const facts = { vendor: openai.name, method, path, headers, rawHeaders, body: undefined, raw: NO_BODY };
  return { ...facts, at: Date.now(), aborted: false, status: 0, events: 0, socket: { frames: [], pings: 0, pongs: 0 } };
}

/** The model of the query, its fault suffix taken off. */
function readModel(name: string | null): { model: string | undefined; fault: Fault } | Answer {
  if (name === null) return { model: undefined, fault: {} };
  const [model = '', suffix] = name.split('!', 2);
  try {
    return { model, fault: suffix === undefined ? {} : readSuffix(suffix) };
  } catch (error) {
    if (error instanceof FaultError) return jsonAnswer(400, { error: `simulator: ${error.message}` });
    throw error;
  }
}

/** Browsers, which cannot set headers, send the key as a subprotocol. */
function callOf(
  stage: Stage,
  { headers }: IncomingMessage,
  path: string,
  query: URLSearchParams,
  model: string | undefined,
  fault: Fault,
): Call {
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  const key = offered.find((name) => name.startsWith(KEY_SUBPROTOCOL))?.slice(KEY_SUBPROTOCOL.length);
  const authorization = headers.authorization ?? (key === undefined ? undefined : `Bearer ${key}`);
  return {
    method: 'GET',
    path: path.startsWith(PREFIX) ? path.slice(PREFIX.length) : path,
    query,
    headers: { ...headers, authorization },
    body: { kind: 'none' },
    model,
    fault,
    origin: stage.origin,
    pictures: stage.pictures,
    run: stage,
  };
}

function refusalOf(call: Call): Answer | undefined {
  if (ANSWERED.some((name) => call.fault[name] !== undefined && call.fault[name] !== false))
    return applyFaults(jsonAnswer(200, {}), { vendor: openai, call });
  try {
    if (call.path !== PATH) refuse(404, { message: `Invalid URL (GET ${call.path})`, code: 'unknown_url' });
    authorize(call);
    modelFor(call, 'realtime');
    return undefined;
  } catch (error) {
    if (error instanceof Refused) return error.answer;
    throw error;
  }
}

/** An answer in place of the upgrade; the connection ends with it. */
function answerWith(request: IncomingMessage, socket: Socket, answer: Answer, record: ReceivedRequest): void {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => socket.end());
  deliver(response, answer, record);
}

function open(stage: Stage, socket: WebSocket, call: Call, record: ReceivedRequest): void {
  record.status = 101;
  const id = nextId('sess_');
  const outbox = new Outbox(socket, call.fault, record);
  const settings = standardSettings(id, call.model!);
  const session: Session = { call, outbox, conversation: new Conversation(), settings, buffered: 0, active: undefined };
  socket.on('message', (data, isBinary) => {
    const text = isBinary ? '' : data.toString();
    const event = handleFrame(session, text);
    stage.received.recordFrame(record, event, text.length);
  });
  observe(socket, session, record, record.socket!);
  outbox.send({ type: 'session.created', session: settings });
}

function observe(socket: WebSocket, session: Session, record: ReceivedRequest, seen: ReceivedSocket): void {
  const { ping } = session.call.fault;
  const pings = ping === undefined ? undefined : setInterval(() => socket.ping(), ping);
  socket.on('error', () => socket.terminate());
  socket.on('ping', () => {
    seen.pings += 1;
  });
  socket.on('pong', () => {
    seen.pongs += 1;
  });
  socket.once('close', (code, reason) => {
    clearInterval(pings);
    seen.closed = { code, reason: reason.toString() };
    record.aborted = session.active !== undefined && !session.outbox.severed;
  });
}
