// What members of the cluster ask each other, at the API's side: hands a request to the servers of src/cluster and their
// answer back. The gate calls it before the body is read, the controller after.
import { TLSSocket } from 'node:tls';
import type { FastifyRequest } from 'fastify';
import type { RelayHead, RelayServer } from '../cluster/relay/relay-server.ts';
import type { HashServer } from '../cluster/state-hash/hash-server.ts';
import { SluiceError } from '../errors.ts';
import type { Answer } from '../resources/answer.ts';

export class RelayDoor {
  readonly #relay: RelayServer | undefined;
  readonly #hashes: HashServer | undefined;

  /** Both undefined: the settings have no `raft` section. */
  constructor(relay: RelayServer | undefined, hashes: HashServer | undefined) {
    this.#relay = relay;
    this.#hashes = hashes;
  }

  /** Throws UNAVAILABLE without a cluster, UNAUTHENTICATED and FORBIDDEN for callers that are no members. */
  admit(request: FastifyRequest): void {
    const isAboutState = request.routeOptions.url?.endsWith('/state-hash');
    active<RelayServer | HashServer>(isAboutState ? this.#hashes : this.#relay).admit(headOf(request));
  }

  async take(request: FastifyRequest): Promise<Answer> {
    return { headers: {}, ...(await active(this.#relay).take(headOf(request), bodyOf(request))) };
  }

  async takeLarge(request: FastifyRequest): Promise<Answer> {
    return { headers: {}, ...(await active(this.#relay).takeLarge(headOf(request), bodyOf(request))) };
  }

  async hashes(request: FastifyRequest): Promise<Answer> {
    return { status: 200, headers: {}, body: await active(this.#hashes).take(headOf(request), bodyOf(request)) };
  }
}

function active<Server>(server: Server | undefined): Server {
  if (server === undefined) throw new SluiceError('UNAVAILABLE', 'cluster mode not active');
  return server;
}

const bodyOf = ({ body }: FastifyRequest): Buffer => (Buffer.isBuffer(body) ? body : Buffer.alloc(0));

const headOf = ({ raw }: FastifyRequest): RelayHead => ({
  method: raw.method ?? '',
  path: raw.url ?? '',
  authorization: raw.headers.authorization,
  remoteAddress: raw.socket.remoteAddress,
  isCertified: raw.socket instanceof TLSSocket && raw.socket.authorized,
});
