// TLS handle: the internal handle of Node's TLS sockets, below the documented API. It wraps the handle of the
// connection, encrypts written bytes and delivers decrypted ones. With socket/stream-handle.ts this relies on Node's
// internals; unit tests check that they still hold.
import type { X509Certificate } from 'node:crypto';
import { type SecureContext, TLSSocket } from 'node:tls';
import { bindingOf } from '../socket/binding.ts';
import { NodeHandle } from '../socket/node-handle.ts';
import type { TcpHandle } from '../socket/stream-handle.ts';
import { NodeTlsHandle } from './node-tls-handle.ts';
import type { NativeContext, TlsHandle } from './tls-stream.ts';

interface TlsBinding {
  wrap(handle: TcpHandle, context: NativeContext, isServer: boolean, hasWrites: boolean): TlsHandle;
}

const { binding, problem } = bindingOf<TlsBinding>(
  'tls_wrap',
  ({ wrap }) => typeof wrap === 'function' && 'getPeerX509Certificate' in TLSSocket.prototype,
);

/** Reason why the handles cannot be used; undefined: they are as expected. */
export const tlsProblem = problem;

/**
 * Wraps the connection, which is read and written through the new handle only. `nameless` returns the context of clients
 * that send no server name, with its key: sockets of Node do not ask for the key of such a one.
 */
export function secureHandle(
  tcp: TcpHandle,
  context: SecureContext,
  isServer: boolean,
  nameless?: () => SecureContext,
): TlsHandle {
  if (tcp instanceof NodeHandle) return new NodeTlsHandle(tcp, nameless?.() ?? context);
  if (binding === undefined) throw new Error(problem);
  return binding.wrap(tcp, nativeOf(context), isServer, false);
}

/** Node's function for the certificate of a handle, which it does not export otherwise. */
const certificateOf: (this: { readonly _handle: TlsHandle }) => X509Certificate | undefined = Reflect.get(
  TLSSocket.prototype,
  'getPeerX509Certificate',
);

export const peerCertificateOf = (tls: TlsHandle): X509Certificate | undefined =>
  tls instanceof NodeTlsHandle ? tls.peerCertificate : certificateOf.call({ _handle: tls });

export const nativeOf = (context: SecureContext): NativeContext => context.context;

/** Returns names of protocols as ALPN sends them (RFC 7301 §3.1), the preferred first. */
export const alpnList = (protocols: readonly string[]): Buffer =>
  Buffer.concat(protocols.flatMap((name) => [Buffer.of(name.length), Buffer.from(name, 'latin1')]));
