/** The video routes: a submission, and the questions about tasks that the gateway answers itself. */
import type { ImageBody } from '../../contract/image.ts';
import type { Operation } from '../../contract/operations.ts';
import type { VideoCall } from '../../contract/video.ts';
import { GatewayError } from '../../errors.ts';
import type { LocalReply } from '../../plugin.ts';
import type { LiveExchange } from '../exchange.ts';
import { proceed, whenReady } from '../flow.ts';
import type { Operator } from '../operator.ts';
import { pageQuery } from '../page-query.ts';
import { jsonOrFormBody } from '../request-body.ts';
import { resolveOffer } from '../resolve.ts';
import { VideoRun, type VideoRunParts } from './run.ts';

/** `POST /v1/videos`: JSON or a form. */
export function videoOperator(receiveTimeout: number, parts: VideoRunParts): Operator {
  const { client, ending } = parts;
  const accept = (exchange: LiveExchange, body: ImageBody) => {
    const call = client.readCall(body);
    exchange.call = call;
    exchange.offer = resolveOffer(exchange, call.model);
    proceed(exchange, ending, () => {
      // `run` ends the exchange whatever happens; nothing is left to catch.
      void new VideoRun(exchange, exchange.call as VideoCall, parts).run();
    });
  };
  return { begin: jsonOrFormBody(receiveTimeout, ending, accept) };
}

type Answering = (exchange: LiveExchange, parts: VideoRunParts) => Promise<LocalReply>;

/** `GET` and `DELETE`: no body, no vendor. */
export function videoTaskOperator(operation: Operation, parts: VideoRunParts): Operator {
  const answer = answers[operation]!;
  const { ending } = parts;
  return {
    begin(exchange, _native, ready) {
      whenReady(exchange, ready, null, ending, () => {
        answer(exchange, parts).then(
          (reply) => ending.sendLocal(exchange, reply),
          (error: unknown) => ending.fail(exchange, error),
        );
      });
    },
  };
}

const json = (value: object): LocalReply => ({ status: 200, body: JSON.stringify(value) });
const keyOf = (exchange: LiveExchange): number => exchange.principal!.key.id;

const answers: Partial<Record<Operation, Answering>> = {
  'videos.get': async (exchange, { tasks, client }) =>
    json(client.encodeVideo(await tasks.get(exchange.parameter, keyOf(exchange)))),

  'videos.content': async (exchange, { tasks }) => {
    requireVideo(new URLSearchParams(exchange.query).get('variant'));
    const { url, status, storage } = await tasks.get(exchange.parameter, keyOf(exchange));
    if (url !== null) return { status: 302, headers: { location: url, 'cache-control': 'no-store' }, body: '' };
    throw notReady(status, storage.status);
  },

  'videos.list': async (exchange, { tasks, client }) =>
    json(client.encodePage(await tasks.page({ keyId: keyOf(exchange), ...pageQuery(exchange.query) }))),

  'videos.delete': async (exchange, { tasks, client }) => {
    await tasks.remove(exchange.parameter, keyOf(exchange));
    return json(client.encodeDeleted(exchange.parameter));
  },
};

/** Clients that try again on 409 are told when that may help, and where it never will they are not told to. */
function notReady(status: string, storage: string): GatewayError {
  const isComing = status !== 'failed' && storage !== 'failed';
  const message = isComing
    ? `The video is not ready: its status is \`${status}\`, and that of its file \`${storage}\`.`
    : `There is no file: the status of the video is \`${status}\`, and that of its file \`${storage}\`.`;
  return new GatewayError('video_not_ready', message, isComing ? { retryAfter: 1 } : {});
}

function requireVideo(variant: string | null): void {
  if (variant === null || variant === 'video') return;
  throw new GatewayError('invalid_value', 'Only the variant `video` is kept.', { param: 'variant' });
}
