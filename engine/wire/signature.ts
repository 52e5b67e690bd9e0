/**
 * Signatures of thoughts travel with the protocol of the vendor that made them, so that no other vendor is given one it
 * would refuse: `anthropic-messages:EqQB…`. Base64 has no colon.
 */
const named = /^[a-z][a-z-]*:/;

/** What a vendor of `protocol` said, for the way to a client. */
export const signedBy = (protocol: string, signature: string): string => `${protocol}:${signature}`;

/** What a client gave back: where it names no protocol, it came over the relay of the client's own. */
export const signatureOf = (protocol: string, given: string): string =>
  named.test(given) ? given : signedBy(protocol, given);

/** What a client of `protocol` is shown: its own vendors' signatures as they said them, so that the relay can carry them back. */
export const shownSignature = (protocol: string, signature: string): string =>
  ownSignature(protocol, signature) ?? signature;

/** The vendor's own words, for a vendor of `protocol`; null where another made it. */
export function ownSignature(protocol: string, signature: string | null | undefined): string | null {
  const mark = `${protocol}:`;
  return signature?.startsWith(mark) ? signature.slice(mark.length) : null;
}
