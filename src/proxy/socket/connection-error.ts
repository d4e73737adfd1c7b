// Error type for the loss of a connection to an upstream before a response (contract.md §9).
import type { ProxyErrorType } from '../../errors.ts';
import type { Security } from './security.ts';

export interface Loss {
  readonly type: ProxyErrorType;
  readonly message: string;
}

const refusal = /^ERR_SSL_\w*ALERT_(?:\w*CERTIFICATE\w*|UNKNOWN_CA|ACCESS_DENIED|HANDSHAKE_FAILURE|DECRYPT_ERROR)$/;

/**
 * In TLS 1.3 a client completes its handshake before the server has checked the client certificate (RFC 8446 §2): the
 * server's demand for one, or for another, arrives in place of the response.
 */
export const lossOf = (reason: string): Loss =>
  refusal.test(reason.replace('/', '_'))
    ? { type: 'tls_handshake_failure', message: `upstream TLS handshake failed: ${reason}` }
    : { type: 'connection_reset', message: reason };

/**
 * The same for a connection that ended before its first byte: a server of TLS 1.3 that refuses the client certificate
 * may close without an alert, where one of TLS 1.2 does so within the handshake.
 */
export function lossBeforeFirstByte(reason: string, security: Security | undefined): Loss {
  const loss = lossOf(reason);
  if (loss.type !== 'connection_reset' || !security?.showsCertificate || security.version !== 'TLSv1.3') return loss;
  const told = 'in place of its first byte, with no alert: it may refuse the client certificate';
  return { type: 'tls_handshake_failure', message: `upstream TLS handshake failed: ${reason} ${told}` };
}
