/** One question to a vendor: how far is it? */
import { AttemptFailed } from '../chain/attempt-failure.ts';
import type { JsonValue } from '../contract/values.ts';
import type { VideoState } from '../contract/video.ts';
import { Answer } from '../upstream/answer.ts';
import { malformed, vendorFailure } from '../upstream/failure.ts';
import { retryAfterSeconds } from '../upstream/headers.ts';
import type { TaskTarget } from './channels.ts';

const largestAnswer = 1024 * 1024;
/** ms; a state is no film, nobody needs minutes to tell it. */
const longestWait = 30_000;
const longestPoll = 60_000;

/** Throws AttemptFailed, TransportError, TooLargeError, or the codec's GatewayError. */
export async function pollVendor(target: TaskTarget, signal: AbortSignal): Promise<VideoState> {
  const { channel, codec, connections, headers, poll: path } = target;
  const { firstByte, idle } = channel.timeouts;
  const answer = Answer.send(connections, {
    method: 'GET',
    path,
    headers,
    body: null,
    firstByteTimeout: Math.min(firstByte, longestWait),
    idleTimeout: Math.min(idle, longestWait),
  });
  const stop = () => answer.abort();
  signal.addEventListener('abort', stop, { once: true });
  const timer = setTimeout(stop, longestPoll);
  try {
    await answer.head;
    const body = await answer.read(largestAnswer);
    if (answer.status < 300) return codec.decodeState(parse(body));
    const reported = readable(body);
    const wait = retryAfterSeconds(answer.headers, Date.now());
    const error = reported === undefined ? null : codec.decodeError(reported);
    throw new AttemptFailed(vendorFailure(channel.vendor, answer.status, error, wait));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

function readable(body: Buffer): JsonValue | undefined {
  try {
    return JSON.parse(body.toString('utf8')) as JsonValue;
  } catch {
    // Proxies in front of vendors answer HTML: the status says all there is.
    return undefined;
  }
}

/** No body at all is what some vendors answer while they work. */
function parse(body: Buffer): JsonValue {
  if (body.length === 0) return null;
  const value = readable(body);
  if (value === undefined) throw new AttemptFailed(malformed('the state of the video is no JSON'));
  return value;
}
