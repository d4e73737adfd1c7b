// Committed commands on their way from the raft thread to the main thread: the bytes of a batch as one piece. Each array of
// its own would cost both threads more than the command it carries. Large ones cross as they are, in memory that both share.
import { isShared } from '../codec/shared-bytes.ts';
import type { CommandEntry } from '../core/types.ts';
import type { Committed } from '../driver/driver-host.ts';

export interface PackedBatch extends Omit<Committed, 'entries'> {
  readonly payloads: Uint8Array;
  /**
   * Index, term, time and payload end of each command: the end of its payload in `payloads`, or of the one before for a
   * payload in `large`.
   */
  readonly heads: Float64Array;
  /** By place in the batch. */
  readonly large?: ReadonlyMap<number, Uint8Array>;
}

const headNumbers = 4;

export function packBatch({ entries, ...batch }: Committed): PackedBatch {
  const heads = new Float64Array(entries.length * headNumbers);
  const large = new Map<number, Uint8Array>();
  let end = 0;
  entries.forEach(({ index, term, time, payload }, at) => {
    if (isShared(payload)) large.set(at, payload);
    else end += payload.length;
    heads.set([index, term, time, end], at * headNumbers);
  });
  const payloads = Buffer.allocUnsafeSlow(end);
  entries.forEach(({ payload }, at) => {
    if (!large.has(at)) payloads.set(payload, heads[at * headNumbers + 3]! - payload.length);
  });
  return { ...batch, payloads, heads, ...(large.size > 0 && { large }) };
}

/** The payloads are views of one piece of memory, but for the large ones. */
export function unpackBatch({ payloads, heads, large, ...batch }: PackedBatch): Committed {
  const entries: CommandEntry[] = [];
  let start = 0;
  for (let at = 0; at < heads.length; at += headNumbers) {
    const end = heads[at + 3]!;
    const payload = large?.get(at / headNumbers) ?? payloads.subarray(start, end);
    entries.push({ kind: 'command', index: heads[at]!, term: heads[at + 1]!, time: heads[at + 2]!, payload });
    start = end;
  }
  return { ...batch, entries };
}
