// `POST /sync/raft` at the API's side: hands a request to the relay server of src/cluster and its answer back. The gate
// calls it before the body is read, the controller after.
import { TLSSocket } from 'node:tls';
import type { FastifyRequest } from 'fastify';
import type { RelayHead, RelayServer } from '../cluster/relay-server.ts';
import { SluiceError } from '../errors.ts';
import type { Answer } from '../resources/answer.ts';

export class RelayDoor {
  readonly #server: RelayServer | undefined;

  /** @param server undefined: the settings have no `raft` section. */
  constructor(server: RelayServer | undefined) {
    this.#server = server;
  }

  /** Throws UNAVAILABLE without a cluster, UNAUTHENTICATED and FORBIDDEN for callers that are no members. */
  admit(request: FastifyRequest): void {
    this.#active.admit(headOf(request));
  }

  async take(request: FastifyRequest): Promise<Answer> {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    return { headers: {}, ...(await this.#active.take(headOf(request), body)) };
  }

  get #active(): RelayServer {
    if (this.#server === undefined) throw new SluiceError('UNAVAILABLE', 'cluster mode not active');
    return this.#server;
  }
}

const headOf = ({ raw }: FastifyRequest): RelayHead => ({
  method: raw.method ?? '',
  path: raw.url ?? '',
  authorization: raw.headers.authorization,
  remoteAddress: raw.socket.remoteAddress,
  isCertified: raw.socket instanceof TLSSocket && raw.socket.authorized,
});
