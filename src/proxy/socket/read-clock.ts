// Which read of a socket is being looked at. All that comes of one read happens at one time: whoever stamps what it brought
// asks the clock once.

let last = 0;
let current = 0;

/** Differs from read to read; 0 while none is being looked at, as in what a timer or a promise has called. */
export const currentRead = (): number => current;

export function beginRead(): void {
  // Small enough to stay an integer to V8. Zero is none.
  last = (last % 0x3fff_ffff) + 1;
  current = last;
}

export function endRead(): void {
  current = 0;
}
