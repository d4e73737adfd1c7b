// Writes of a file that end only when the system has taken all bytes: it may take a part of what it is given.
import type { FileHandle } from 'node:fs/promises';

/** Pieces that one call of the system takes. */
const piecesMax = 512;

/** Resolves when all pieces are written, one behind the other from `position` on. Rejects with the system's error. */
export async function writeAll(file: FileHandle, pieces: readonly Uint8Array[], position: number): Promise<void> {
  let rest = without(pieces, 0);
  for (let at = position; rest.length > 0; ) {
    const { bytesWritten } = await file.writev(rest.slice(0, piecesMax), at);
    if (bytesWritten === 0) throw noRoom();
    at += bytesWritten;
    rest = without(rest, bytesWritten);
  }
}

/** A system that takes fewer bytes than it is given, or none, without an error has no room. */
export const noRoom = (): Error =>
  Object.assign(new Error('the disk takes nothing more'), { code: 'ENOSPC', errno: -28 });

/** Returns what is left of the pieces behind the first bytes; never an empty piece in front. */
function without(pieces: readonly Uint8Array[], bytes: number): readonly Uint8Array[] {
  let gone = bytes;
  let at = 0;
  for (let piece = pieces[at]; piece !== undefined && piece.length <= gone; piece = pieces[at]) {
    gone -= piece.length;
    at += 1;
  }
  const [first, ...others] = pieces.slice(at);
  return first === undefined ? [] : [first.subarray(gone), ...others];
}
