// What the loss of a connection to an upstream is called when no response has come of it (contract.md §9).
import type { ProxyErrorType } from '../../errors.ts';

export interface Loss {
  readonly type: ProxyErrorType;
  readonly message: string;
}

const refusal = /^ERR_SSL_\w*ALERT_(?:\w*CERTIFICATE\w*|UNKNOWN_CA|ACCESS_DENIED|HANDSHAKE_FAILURE|DECRYPT_ERROR)$/;

/**
 * In TLS 1.3 a client is done with the handshake before the server has looked at its certificate (RFC 8446 §2): that
 * the server wants one, or another, comes where the response was to be.
 */
export const lossOf = (reason: string): Loss =>
  refusal.test(reason.replace('/', '_'))
    ? { type: 'tls_handshake_failure', message: `upstream TLS handshake failed: ${reason}` }
    : { type: 'connection_reset', message: reason };
