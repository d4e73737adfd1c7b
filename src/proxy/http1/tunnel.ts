// After 101 two sockets are one connection: bytes go both ways, each side waiting for the other, until either ends.
import type { Socket } from 'node:net';

/** `onEnd` is called once, when both are gone. Listeners for data, end, error, close and drain must have been removed. */
export function joinSockets(client: Socket, upstream: Socket, onEnd: () => void): void {
  let open = 2;
  const closed = (): void => {
    if (--open === 0) onEnd();
  };
  carry(client, upstream, closed);
  carry(upstream, client, closed);
}

function carry(from: Socket, to: Socket, closed: () => void): void {
  from.on('data', (chunk: Buffer) => {
    if (!to.write(chunk)) from.pause();
  });
  to.on('drain', () => from.resume());
  from.on('end', () => to.end());
  from.on('error', () => to.destroy());
  from.on('close', () => {
    to.destroySoon();
    closed();
  });
  from.resume();
}
