// After 101 two sockets are one connection: bytes go both ways, each side waiting for the other, until either ends.
import type { Wire } from '../socket/wire.ts';

/** `onEnd` is called once, when both are gone. Listeners for end, error, close and drain must have been removed. */
export function joinSockets(client: Wire, upstream: Wire, onEnd: () => void): void {
  let open = 2;
  const closed = (): void => {
    if (--open === 0) onEnd();
  };
  carry(client, upstream, closed);
  carry(upstream, client, closed);
}

function carry(from: Wire, to: Wire, closed: () => void): void {
  from.receiver = {
    onBytes(bytes, length) {
      if (!to.write(Buffer.from(bytes.subarray(0, length)))) from.pause();
    },
  };
  to.on('drain', () => from.resume());
  from.on('end', () => to.end());
  from.on('error', () => to.destroy());
  from.on('close', () => {
    to.destroySoon();
    closed();
  });
  from.resume();
}
