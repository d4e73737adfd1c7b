// Accepts connections as wires. Node's server makes its own sockets and has no option for how they read (`onread` is
// for sockets that connect), so the callback of its handle is replaced: the one place that relies on how Node is
// built. A unit test holds that it still is.
import type { Server } from 'node:net';
import { Wire } from './wire.ts';

interface AcceptingHandle {
  /** Set by Node when the server begins to listen. `status` is 0, or a negative error of libuv. */
  onconnection(status: number, handle?: { setNoDelay(on: boolean): number }): void;
}

/** From now on each connection of the server, which listens, becomes a wire. `server` itself never sees them. */
export function acceptWires(server: Server, take: (wire: Wire) => void): void {
  const listening: AcceptingHandle | undefined = Reflect.get(server, '_handle');
  if (typeof listening?.onconnection !== 'function') throw new Error('this version of Node.js is not supported');
  const fail = listening.onconnection;
  listening.onconnection = (status, handle) => {
    if (status !== 0 || handle === undefined) {
      fail.call(listening, status, handle);
      return;
    }
    handle.setNoDelay(true);
    take(new Wire(handle));
  };
}
