// Sockets of the thread: on the handles below Node's sockets, or on these sockets themselves (`proxy.sockets`).
import { type Server, Socket, type SocketConstructorOpts } from 'node:net';
import { acceptHandles, detachHandle } from './accepting.ts';
import { sharedReadBuffer } from './byte-socket.ts';
import { NodeHandle } from './node-handle.ts';
import type { TcpHandle } from './stream-handle.ts';

export type SocketKind = 'native' | 'node';

interface Sockets {
  /** Passes each new connection of a listening server to `take`. */
  accept(server: Server, take: (handle: TcpHandle) => void): void;
  /** Returns a socket to connect. */
  newSocket(): Socket;
  /** Takes the connection of a connected socket, which is of no use afterwards. */
  handleOf(socket: Socket): TcpHandle;
}

/** Connects, no more: it finds the address and is left behind then. */
const connecting = {
  onread: { buffer: sharedReadBuffer, callback: (): boolean => true },
  noDelay: true,
} as SocketConstructorOpts;

const kinds: Readonly<Record<SocketKind, Sockets>> = {
  native: {
    accept: acceptHandles,
    newSocket: () => new Socket(connecting),
    handleOf: detachHandle,
  },
  node: {
    accept(server, take) {
      server.on('connection', (socket) => take(new NodeHandle(socket)));
    },
    newSocket: () => new Socket({ allowHalfOpen: true, noDelay: true } as SocketConstructorOpts),
    handleOf: (socket) => new NodeHandle(socket),
  },
};

/** Sockets of the thread. */
export let sockets: Sockets = kinds.native;

export function useSockets(kind: SocketKind): void {
  sockets = kinds[kind];
}
