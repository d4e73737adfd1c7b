// What TLS adds to a connection, as the rest of the data plane sees it.
import type { RequestTls } from '../../expression/cel/value-view.ts';

export interface Security {
  /** `TLSv1.3` */
  readonly version: string;
  /** Server name that the client asked for, in lower case and without a point at its end; empty when it named none. */
  readonly serverName: string;
  /** Chosen by ALPN; `http/1.1` where nothing was. */
  readonly protocol: string;
  /** The session goes on from an earlier connection. */
  readonly resumed: boolean;
  /** Present when the client showed a certificate that was verified. */
  readonly client: ClientCertificate | undefined;
  /** Whether requests for the host, in lower case and without port, belong here. */
  covers(host: string): boolean;
}

export interface ClientCertificate {
  /** Names the authorities that it was verified by. */
  readonly trustedBy: string;
  /** For expressions; made when the first asks. */
  readonly facts: RequestTls;
  /** Value of `X-Forwarded-Client-Cert`; empty when the certificate has no URI names. */
  readonly forwarded: string;
}
