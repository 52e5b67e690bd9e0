interface Box {
  readonly type: string;
  readonly content: Buffer;
}

/** The boxes of an ISO 14496-12 file or of a container box; throws where their sizes do not add up. */
export function boxesOf(bytes: Buffer): Box[] {
  const boxes: Box[] = [];
  for (let start = 0; start < bytes.length; ) {
    const size = bytes.readUInt32BE(start);
    if (size < 8 || start + size > bytes.length) throw new Error(`a box at ${start} claims ${size} bytes`);
    boxes.push({
      type: bytes.toString('latin1', start + 4, start + 8),
      content: bytes.subarray(start + 8, start + size),
    });
    start += size;
  }
  return boxes;
}
