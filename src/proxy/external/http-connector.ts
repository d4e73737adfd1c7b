// Connector for HTTP connections to a destination's own address: with its TLS, under the name and within the time of
// its settings (contract.md §8.0). Names are resolved as those of upstreams are, a few at a time: each query holds a
// thread of the pool.
import { connect as connectTcp, type LookupFunction } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import type { buildConnector } from 'undici';
import type { Destination } from '../../model/destination.ts';
import type { Clock } from '../../util/clock.ts';
import { headFor } from '../message/client-ends.ts';
import { undici } from '../on-demand.ts';
import { nodeOptions } from '../tls/node-options.ts';
import type { OfferedProtocol } from '../tls/upstream-security.ts';
import { openingTimes } from './service-address.ts';

export interface ConnectorTools {
  readonly clock: Clock;
  readonly lookup: LookupFunction;
}

/** Returns whether undici may speak HTTP/2, the one protocol that it has beside HTTP/1.1. */
export const allowsH2 = ({ alpn }: OfferedProtocol): boolean => alpn === 'h2';

/** With HTTP/2, over TLS it is offered too and preferred; without TLS, it is spoken at once. */
export function connectorOf(
  destination: Destination,
  protocol: OfferedProtocol,
  { clock, lookup }: ConnectorTools,
): buildConnector.connector {
  const allowH2 = allowsH2(protocol);
  const { connectMs, dualStackFallbackMs, tlsHandshakeMs, proxyProtocol } = openingTimes(destination);
  const head = proxyProtocol === undefined ? undefined : headFor(proxyProtocol, undefined);
  const reaching = { lookup, autoSelectFamily: true, autoSelectFamilyAttemptTimeout: attemptMs(dualStackFallbackMs) };
  const tls = nodeOptions(destination);
  if (tls === undefined) {
    const plain = undici().buildConnector({
      ...reaching,
      ...{ timeout: connectMs, allowH2 },
      ...(allowH2 && { useH2c: true }),
    });
    if (head === undefined) return plain;
    return (options, done) =>
      plain(options, (error, socket) => {
        socket?.write(head);
        if (error === null) done(null, socket);
        else done(error, null);
      });
  }
  const ALPNProtocols = allowH2 ? ['h2', 'http/1.1'] : ['http/1.1'];
  let latest: Session | undefined;
  // What it throws fails the requests that wait for the connection, as an error of the connection does.
  return ({ hostname, port }, done) => {
    const session = latest !== undefined && latest.endsMs > clock.nowMs() ? { session: latest.ticket } : {};
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    const place = { ...reaching, host, port: Number(port) };
    const beneath = head === undefined ? place : { socket: connectTcp(place) };
    // The head leaves as soon as there is a connection, before TLS begins.
    if (head !== undefined && 'socket' in beneath) beneath.socket.write(head);
    const socket = connect({ ...tls, ...beneath, ...session, ALPNProtocols });
    socket.on('session', (ticket: Buffer) => {
      const endsMs = socket.getPeerX509Certificate()?.validToDate.getTime() ?? latest?.endsMs ?? 0;
      latest = { ticket, endsMs };
    });
    untilSecured(socket, { clock, connectMs, tlsHandshakeMs }, (error) => {
      if (error === null) done(null, socket);
      else {
        latest = undefined;
        done(error, null);
      }
    });
  };
}

interface Session {
  readonly ticket: Buffer;
  /** Expiry of the certificate that was shown, Unix milliseconds. A resumed session shows none. */
  readonly endsMs: number;
}

/** Node knows no less. */
const attemptMs = (fallbackMs: number): number => Math.max(10, fallbackMs);

interface ConnectLimits {
  readonly clock: Clock;
  /** Milliseconds; 0 = no limit. */
  readonly connectMs: number;
  readonly tlsHandshakeMs: number;
}

/** Calls once. */
function untilSecured(
  socket: TLSSocket,
  { clock, connectMs, tlsHandshakeMs }: ConnectLimits,
  done: (error: Error | null) => void,
): void {
  const within = (ms: number, what: string) =>
    ms > 0 ? clock.after(ms, () => socket.destroy(new Error(`${what} in time`))) : () => {};
  let cancel = within(connectMs, 'not connected');
  const settle = (error: Error | null): void => {
    cancel();
    socket.off('error', settle);
    done(error);
  };
  socket.setNoDelay(true).setKeepAlive(true, keepAliveMs);
  socket.once('connect', () => {
    cancel();
    cancel = within(tlsHandshakeMs, 'TLS handshake not done');
  });
  socket.once('secureConnect', () => settle(null));
  socket.once('error', settle);
}

/** A peer that is gone without a word is found out by the system. */
const keepAliveMs = 60_000;
