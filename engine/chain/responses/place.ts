/** Which of a model's channels is the vendor account that knows an answer. */
import { createHash } from 'node:crypto';
import type { Channel } from '../../contract/model.ts';
import type { StatePlace } from '../../contract/responses.ts';

/** One channel and one of its credentials: no other may be tried. */
export interface Pin {
  readonly channel: Channel;
  readonly credential: number;
}

/** Enough of a hash to tell credentials apart; the credential does not follow from it. */
const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('base64url').slice(0, 16);

export function placeOf(channel: Channel, credential: number): StatePlace {
  return { channel: channel.name, credential: hashOf(channel.credentials[credential]!) };
}

/** Null where the account does not serve the route any more. */
export function pinTo(channels: Iterable<Channel>, place: StatePlace): Pin | null {
  for (const channel of channels) {
    if (channel.name !== place.channel) continue;
    const credential = channel.credentials.findIndex((secret) => hashOf(secret) === place.credential);
    if (credential >= 0) return { channel, credential };
  }
  return null;
}
