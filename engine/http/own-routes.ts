/** What the gateway answers under its own name: health, readiness, metrics, its description, signed files. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { openAiError } from '../chain/plain-form.ts';
import type { NativeHead } from '../chain/runner.ts';
import type { Log } from '../contract/values.ts';
import { toGatewayError } from '../errors.ts';
import type { FileReply, FileServer } from '../objects/serve.ts';
import type { Reply } from './reply.ts';

export interface OwnRoutes {
  /** `GET /readyz`: whether requests are served, and what the last reload said. */
  readiness(): { readonly ready: boolean; readonly body: object };
  /** Prometheus text, for those who know the token where there is one; null where metrics are off. */
  readonly metrics: { readonly path: string; readonly token: string | null; render(): string } | null;
  /** `GET /openapi.json`. */
  description(): string;
  readonly files: FileServer | null;
  readonly log: Log;
}

export type OtherPaths = (reply: Reply, head: NativeHead, method: string, path: string, query: string) => boolean;

export function createOwnRoutes(routes: OwnRoutes): OtherPaths {
  return (reply, head, method, path, query) => {
    if (path.startsWith('/files/') && routes.files !== null) {
      sendFile(routes.files, reply, head, method, path, query, routes.log);
      return true;
    }
    if (method !== 'get' && method !== 'head') return false;
    if (path === '/healthz') reply.send(200, 'text/plain; charset=utf-8', 'ok\n');
    else if (path === '/readyz') sendReadiness(routes, reply);
    else if (path === '/openapi.json') reply.send(200, 'application/json', routes.description());
    else if (path === routes.metrics?.path) sendMetrics(routes.metrics, reply, head);
    else return false;
    return true;
  };
}

function sendMetrics({ token, render }: NonNullable<OwnRoutes['metrics']>, reply: Reply, head: NativeHead): void {
  if (token === null || isSame(head.getHeader('authorization'), `Bearer ${token}`))
    reply.send(200, 'text/plain; version=0.0.4; charset=utf-8', render());
  else reply.send(401, 'text/plain; charset=utf-8', 'A token is needed.\n', ['www-authenticate', 'Bearer']);
}

/** In constant time, whatever the lengths. */
function isSame(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}

function sendReadiness(routes: OwnRoutes, reply: Reply): void {
  const { ready, body } = routes.readiness();
  reply.send(ready ? 200 : 503, 'application/json', `${JSON.stringify(body)}\n`);
}

function sendFile(
  files: FileServer,
  reply: Reply,
  head: NativeHead,
  method: string,
  path: string,
  query: string,
  log: Log,
): void {
  // Copied before anything asynchronous: uWS only lends the head.
  const request = {
    method: method.toUpperCase(),
    path,
    query,
    range: head.getHeader('range') || null,
    ifNoneMatch: head.getHeader('if-none-match') || null,
  };
  files.resolveFile(request).then(
    (file) => sendFound(file, reply, method, log),
    (thrown: unknown) => {
      const error = toGatewayError(thrown);
      if (error.code === 'internal_error') log.error({ err: thrown, path }, 'a file could not be served');
      reply.send(error.status, 'application/json', JSON.stringify(openAiError(error, reply.requestId)));
    },
  );
}

function sendFound(file: FileReply, reply: Reply, method: string, log: Log): void {
  const { 'content-type': contentType = 'application/octet-stream', 'content-length': length, ...rest } = file.headers;
  reply.stage(file.status, contentType, Object.entries(rest).flat());
  if (file.body !== null) {
    const { body } = file;
    if (!reply.gone)
      reply.sendStream(body.open(), body.length, (error) =>
        log.error({ err: error }, 'a file broke off while it was sent'),
      );
  } else if (method === 'head') reply.endWithoutBody(Number(length ?? 0));
  else reply.end();
}
