/** What a video is by its first bytes. Nothing is decoded. */

/** Bytes that tell every type. */
export const sniffedBytes = 64;

/** `video/mp4`, `video/quicktime` or `video/webm`; null for anything else. */
export function sniffVideo(bytes: Buffer): string | null {
  if (bytes.length < 12) return null;
  // ISO 14496-12: a box of the type `ftyp` comes first and names a brand.
  if (bytes.toString('latin1', 4, 8) === 'ftyp')
    return bytes.toString('latin1', 8, 12) === 'qt  ' ? 'video/quicktime' : 'video/mp4';
  // EBML; Matroska that is no WebM plays in few browsers.
  const isWebm = bytes.readUInt32BE(0) === 0x1a45dfa3 && bytes.subarray(0, sniffedBytes).includes('webm');
  return isWebm ? 'video/webm' : null;
}
