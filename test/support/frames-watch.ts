// Looks at the bytes that one node of a cluster sends to another, where they pass or arrive, and tells of the messages
// that go ahead of bulk: heartbeats above all. Large entries are skipped, not looked into.
import { decodeMessage } from '../../raft/codec/message-decoder.ts';
import type { Message } from '../../raft/core/message.ts';

const headBytes = 8;
/** Version, flags, length and checksum of the message: what stands before it in a frame that carries all of it. */
const firstBytes = 10;
const wholeAndUrgent = 7;
/** Longer than any message of that lane. */
const urgentBytesMax = 1024;

/** Reader of the frames in one direction of one connection, given its bytes in order. */
export function framesWatch(heard: (message: Message) => void): (bytes: Buffer) => void {
  let begun = Buffer.alloc(0);
  let toSkip = 0;
  return (bytes) => {
    let rest = bytes;
    while (rest.length > 0) {
      if (toSkip > 0) {
        const skipped = Math.min(toSkip, rest.length);
        toSkip -= skipped;
        rest = rest.subarray(skipped);
        continue;
      }
      const joined = begun.length === 0 ? rest : Buffer.concat([begun, rest]);
      begun = Buffer.alloc(0);
      const length = joined.length < headBytes + firstBytes ? undefined : joined.readUInt32BE(0);
      const isShort = length !== undefined && length <= urgentBytesMax;
      if (length === undefined || (isShort && joined.length < headBytes + length)) {
        begun = Buffer.from(joined);
        return;
      }
      if (isShort && joined[headBytes + 1] === wholeAndUrgent) {
        const message = decodeMessage(joined.subarray(headBytes + firstBytes, headBytes + length));
        if (message !== undefined) heard(message);
      }
      toSkip = headBytes + length;
      rest = joined;
    }
  };
}
