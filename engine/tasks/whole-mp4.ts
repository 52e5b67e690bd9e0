/** Whether an MP4 or QuickTime file is all there: a vendor may announce fewer bytes than it has. */
import { type FileHandle, open } from 'node:fs/promises';

/** Far more than real files have at their top level; keeps a hostile one from costing time. */
const mostBoxes = 100_000;

/** False where a box (ISO 14496-12, 4.2) reaches beyond the end of the file. What follows the last box is not looked at. */
export async function isWholeMp4(path: string, bytes: number): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    let at = 0;
    for (let boxes = 0; boxes < mostBoxes && at + 8 <= bytes; boxes++) {
      const size = await boxSize(file, at);
      // 0: to the end of the file. Less than its own head: no box, but something behind the last one.
      if (size < 8) return true;
      at += size;
    }
    return at <= bytes;
  } finally {
    await file.close();
  }
}

async function boxSize(file: FileHandle, at: number): Promise<number> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, at);
  const size = buffer.readUInt32BE(0);
  return size === 1 && bytesRead === 16 ? Number(buffer.readBigUInt64BE(8)) : size;
}
