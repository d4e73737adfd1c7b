// Lingering close of a connection whose request was not read to its end (RFC 9112 §9.6). After an immediate close the system
// would answer further bytes with a reset, and the client would lose the response that it has not read yet.
import { Socket } from 'node:net';
import type { Clock } from '../util/clock.ts';

export interface LingerLimits {
  /** Bytes that are read and dropped at most. */
  readonly bytes: number;
  /** Milliseconds that the client has to read the response and close. */
  readonly ms: number;
}

// Simple clients write a whole body before they read, and are often a little above a limit: 4 MiB, of batches 32 or 128 MiB.
const usual: LingerLimits = { bytes: 192 * 1024 * 1024, ms: 2_000 };

/** Ends the connection behind the written bytes and drops incoming ones until the client closes, within limits. */
export function lingeringClose(socket: Socket, clock: Clock, limits: LingerLimits = usual): void {
  const cancel = clock.after(limits.ms, () => socket.destroy());
  socket.once('close', cancel);
  socket.once('end', () => destroyWritten(socket));
  socket.end();
  // Node resumes a connection that its parser has paused; that has to be over by then.
  if (!socket.isPaused()) drop(socket, limits.bytes);
  else socket.once('resume', () => drop(socket, limits.bytes)).resume();
}

function drop(socket: Socket, bytes: number): void {
  let left = bytes;
  // Nothing that comes from now on is a request any more.
  socket.removeAllListeners('data');
  socket.on('data', ({ length }: Buffer) => {
    left -= length;
    if (left < 0) socket.destroy();
  });
}

/** Replaces `destroySoon`, by which Node closes a connection after its last response: lingers if the request is incomplete. */
export function lingerAfter(request: { readonly complete: boolean; readonly socket: Socket }, clock: Clock): void {
  const { socket } = request;
  socket.destroySoon = () => {
    if (request.complete) destroyWritten(socket);
    else lingeringClose(socket, clock);
  };
}

const destroyWritten = (socket: Socket): void => Socket.prototype.destroySoon.call(socket);
