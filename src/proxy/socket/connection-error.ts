// Error type for the loss of a connection to an upstream before a response (contract.md §9).
import type { ProxyErrorType } from '../../errors.ts';

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
