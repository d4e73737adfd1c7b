// TLS properties of a connection, as the rest of the data plane sees them.
import type { RequestTls } from '../../expression/cel/value-view.ts';

export interface Security {
  /** `TLSv1.3` */
  readonly version: string;
  /** Server name that the client sent, in lower case and without a trailing dot; empty when it sent none. */
  readonly serverName: string;
  /** Protocol chosen by ALPN; `http/1.1` without a choice. */
  readonly protocol: string;
  /** True when the session was resumed. */
  readonly resumed: boolean;
  /** Present when the client showed a certificate that was verified. */
  readonly client: ClientCertificate | undefined;
  /** True when this side showed a client certificate, which a server of TLS 1.3 checks after the handshake. */
  readonly showsCertificate?: boolean;
  /** Returns whether requests for the host, in lower case and without port, may use this connection. */
  covers(host: string): boolean;
}

export interface ClientCertificate {
  /** Id of the authorities that verified it. */
  readonly trustedBy: string;
  /** View for expressions; made on first use. */
  readonly facts: RequestTls;
  /** Value of `X-Forwarded-Client-Cert`; empty when the certificate has no URI names. */
  readonly forwarded: string;
}
