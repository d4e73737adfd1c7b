// Accepting of connections below Node's sockets. Node's server makes its own sockets and has no option for how they
// read (`onread` is for sockets that connect), so the callback of its handle is replaced. Together with
// tls/tls-handle.ts this relies on Node's internals; unit tests check that they still hold.
import type { Server, Socket } from 'node:net';
import type { TcpHandle } from './stream-handle.ts';

interface AcceptingHandle {
  setNoDelay(on: boolean): number;
  /** Set by Node when the server begins to listen. `status` is 0, or a negative error of libuv. */
  onconnection(status: number, handle?: TcpHandle): void;
}

/** Passes the handle of each new connection of a listening server to `take`. `server` itself never sees them. */
export function acceptHandles(server: Server, take: (handle: TcpHandle) => void): void {
  const listening: AcceptingHandle | undefined = Reflect.get(server, '_handle');
  if (typeof listening?.onconnection !== 'function') throw new Error('this version of Node.js is not supported');
  const fail = listening.onconnection;
  // On Linux connections inherit it, which saves a call for each.
  const inherited = process.platform === 'linux' && listening.setNoDelay(true) === 0;
  listening.onconnection = (status, handle) => {
    if (status !== 0 || handle === undefined) {
      fail.call(listening, status, handle);
      return;
    }
    if (!inherited) handle.setNoDelay(true);
    take(handle);
  };
}

/** Takes the handle from its socket, which is of no use afterwards. No data may be in transit through it. */
export function detachHandle(socket: Socket): TcpHandle {
  const handle: TcpHandle | null = Reflect.get(socket, '_handle');
  if (handle === null) throw new Error('the socket has no connection');
  Reflect.set(socket, '_handle', null);
  return handle;
}
