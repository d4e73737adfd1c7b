// Read clock: identifies the read of a socket that is being handled. All that one read brought has one time, so the
// clock is read once for it.

let last = 0;
let current = 0;

/** Returns the number of the read at hand; 0 outside of reads, as in callbacks of timers and promises. */
export const currentRead = (): number => current;

export function beginRead(): void {
  // Small enough to stay a small integer of V8. Zero means none.
  last = (last % 0x3fff_ffff) + 1;
  current = last;
}

export function endRead(): void {
  current = 0;
}
