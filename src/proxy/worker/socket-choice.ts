// Choice of the sockets of a thread by the settings.
import { type SocketKind, useSockets } from '../socket/sockets.ts';
import { streamProblem } from '../socket/stream-handle.ts';
import { tlsProblem } from '../tls/tls-handle.ts';

interface SocketChoice {
  /** `node` where the handles of this version of Node are not as expected. */
  readonly sockets: SocketKind;
  /** Reason why it is not the wanted one. */
  readonly problem: string | undefined;
}

/** Chooses the sockets of the calling thread. */
export function chooseSockets(wanted: SocketKind): SocketChoice {
  const problem = wanted === 'native' ? (streamProblem ?? tlsProblem) : undefined;
  const sockets = problem === undefined ? wanted : 'node';
  useSockets(sockets);
  return { sockets, problem };
}
