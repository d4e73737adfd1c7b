// Committed commands on their way from the raft thread to the main thread: the bytes of a batch as one piece. Each array of
// its own would cost both threads more than the command it carries.
import type { CommandEntry } from '../core/types.ts';
import type { Committed } from '../driver/host.ts';

export interface PackedBatch extends Omit<Committed, 'entries'> {
  readonly payloads: Uint8Array;
  /** Of each command index, term, time, and where its payload ends. */
  readonly heads: Float64Array;
}

const headNumbers = 4;

export function packBatch({ entries, ...batch }: Committed): PackedBatch {
  const heads = new Float64Array(entries.length * headNumbers);
  let end = 0;
  entries.forEach(({ index, term, time, payload }, at) => {
    end += payload.length;
    heads.set([index, term, time, end], at * headNumbers);
  });
  const payloads = Buffer.allocUnsafeSlow(end);
  entries.forEach(({ payload }, at) => {
    payloads.set(payload, heads[at * headNumbers + 3]! - payload.length);
  });
  return { ...batch, payloads, heads };
}

/** The payloads are views of one piece of memory. */
export function unpackBatch({ payloads, heads, ...batch }: PackedBatch): Committed {
  const entries: CommandEntry[] = [];
  let start = 0;
  for (let at = 0; at < heads.length; at += headNumbers) {
    const end = heads[at + 3]!;
    const payload = payloads.subarray(start, end);
    entries.push({ kind: 'command', index: heads[at]!, term: heads[at + 1]!, time: heads[at + 2]!, payload });
    start = end;
  }
  return { ...batch, entries };
}
