// Plain and mutually authenticated sockets between nodes (raft.md A21): how one is dialled, how one is accepted, and
// whether a certificate fits the node that shows it.
import { connect as connectPlain, createServer as createPlainServer, type Server, type Socket } from 'node:net';
import { connect as connectTls, createServer as createTlsServer, TLSSocket } from 'node:tls';

export interface PeerTls {
  /** PEM texts: own certificate and key, and the authority that signs every node's. */
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

const keepAliveMs = 5_000;

/** `host:port`, an IPv6 host in brackets. Undefined when it is neither. */
export function parseAddress(address: string): { host: string; port: number } | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(address);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  return host !== undefined && port >= 0 && port <= 65_535 ? { host, port } : undefined;
}

/**
 * `ready` is called once the connection stands, TLS included. Failures show as 'error' and 'close' of the socket.
 * The host name is not compared with the certificate: addresses change, and the authority signs nodes of this cluster only.
 */
export function dial(to: { host: string; port: number }, tls: PeerTls | undefined, ready: () => void): Socket {
  const socket =
    tls === undefined
      ? connectPlain(to, ready)
      : connectTls({ ...to, ...tls, minVersion: 'TLSv1.3', checkServerIdentity: () => undefined }, ready);
  return tune(socket);
}

export interface AcceptorEvents {
  /** A socket that stands, TLS included; clients without a certificate of the authority never get here. */
  accepted(socket: Socket): void;
  failed(address: string, reason: string): void;
}

export function acceptor(tls: PeerTls | undefined, events: AcceptorEvents): Server {
  const take = (socket: Socket) => events.accepted(tune(socket));
  if (tls === undefined) return createPlainServer(take);
  const server = createTlsServer({ ...tls, minVersion: 'TLSv1.3', requestCert: true, rejectUnauthorized: true }, take);
  server.on('tlsClientError', (error, socket) => {
    events.failed(socket.remoteAddress ?? 'unknown', error.message);
    socket.destroy();
  });
  return server;
}

/** The certificate of the other side names `nodeId` as its common name or as a DNS name. */
export function certificateNames(socket: Socket, nodeId: string): boolean {
  if (!(socket instanceof TLSSocket)) return false;
  const { subject, subjectaltname } = socket.getPeerCertificate();
  const names = (subjectaltname ?? '').split(', ').filter((name) => name.startsWith('DNS:'));
  return subject?.CN === nodeId || names.includes(`DNS:${nodeId}`);
}

function tune<S extends Socket>(socket: S): S {
  socket.setNoDelay(true);
  socket.setKeepAlive(true, keepAliveMs);
  return socket;
}
