/** One question to a vendor: how far is it? */
import { AttemptFailed, refusalOf } from '../chain/attempt-failure.ts';
import type { JsonValue } from '../contract/values.ts';
import type { VideoState } from '../contract/video.ts';
import { Answer } from '../upstream/answer.ts';
import { malformed } from '../upstream/failure.ts';
import { parsedJson } from '../wire/parse-json.ts';
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
    if (answer.status >= 300)
      throw new AttemptFailed(await refusalOf(answer, channel.vendor, (body) => codec.decodeError(body)));
    return codec.decodeState(parse(await answer.read(largestAnswer)));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

/** No body at all is what some vendors answer while they work. */
function parse(body: Buffer): JsonValue {
  if (body.length === 0) return null;
  const value = parsedJson(body);
  if (value === undefined) throw new AttemptFailed(malformed('the state of the video is no JSON'));
  return value;
}
