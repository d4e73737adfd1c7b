// Routes between members of the cluster, at the API's side: passes requests to the servers of src/cluster and returns
// their answers. The authorizer calls it before the body is read, the controller after.
import { TLSSocket } from 'node:tls';
import type { FastifyRequest } from 'fastify';
import type { PeerServer } from '../cluster/peers/peer-server.ts';
import type { RelayHead, RelayServer } from '../cluster/relay/relay-server.ts';
import type { HashServer } from '../cluster/state-hash/hash-server.ts';
import { SluiceError } from '../errors.ts';
import type { Answer } from '../resources/resource-answer.ts';

export class PeerRoutes {
  readonly #relay: RelayServer | undefined;
  readonly #hashes: HashServer | undefined;
  readonly #peers: PeerServer | undefined;

  /** Takes the servers; all are undefined where the settings have no `raft` section. */
  constructor(relay: RelayServer | undefined, hashes: HashServer | undefined, peers: PeerServer | undefined) {
    this.#relay = relay;
    this.#hashes = hashes;
    this.#peers = peers;
  }

  /** Returns true for a caller that has proven its membership. Throws UNAVAILABLE without a cluster, UNAUTHENTICATED, FORBIDDEN. */
  admit(request: FastifyRequest): boolean {
    return active(this.#serverOf(request.routeOptions.url ?? '')).admit(headOf(request));
  }

  async take(request: FastifyRequest): Promise<Answer> {
    return { headers: {}, ...(await active(this.#relay).take(headOf(request), bodyOf(request))) };
  }

  async takeLarge(request: FastifyRequest): Promise<Answer> {
    return { headers: {}, ...(await active(this.#relay).takeLarge(headOf(request), bodyOf(request))) };
  }

  async hashes(request: FastifyRequest): Promise<Answer> {
    return await provenAnswer(active(this.#hashes), request);
  }

  async peers(request: FastifyRequest): Promise<Answer> {
    return await provenAnswer(active(this.#peers), request);
  }

  #serverOf(url: string): RelayServer | HashServer | PeerServer | undefined {
    if (url.endsWith('/state-hash')) return this.#hashes;
    return url.endsWith('/fleet') ? this.#peers : this.#relay;
  }
}

async function provenAnswer(server: HashServer | PeerServer, request: FastifyRequest): Promise<Answer> {
  const head = headOf(request);
  const body = await server.take(head, bodyOf(request));
  return { status: 200, headers: server.fieldsOf(head, body), body };
}

function active<Server extends object>(server: Server | undefined): Server {
  if (server === undefined) throw new SluiceError('UNAVAILABLE', 'cluster mode not active');
  return server;
}

const bodyOf = ({ body }: FastifyRequest): Buffer => (Buffer.isBuffer(body) ? body : Buffer.alloc(0));

const headOf = ({ raw }: FastifyRequest): RelayHead => ({
  method: raw.method ?? '',
  path: raw.url ?? '',
  authorization: raw.headers.authorization,
  contentDigest: raw.headersDistinct['content-digest']?.join(),
  remoteAddress: raw.socket.remoteAddress,
  isCertified: raw.socket instanceof TLSSocket && raw.socket.authorized,
});
