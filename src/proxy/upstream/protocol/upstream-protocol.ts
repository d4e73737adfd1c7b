// Protocol of the connections to the endpoints of a destination: each answer that depends on the version of HTTP, except
// for its pools, which main does not load (pools.ts).
import type { Socket } from 'node:net';
import type { OfferedProtocol } from '../../tls/upstream-security.ts';

export interface UpstreamProtocol extends OfferedProtocol {
  readonly name: 'http1' | 'http2';
  /** Version in traces, as `network.protocol.version` of OpenTelemetry has it. */
  readonly version: string;
  /** True when an endpoint can report a request as not processed, which then goes out once more (RFC 9113 §8.7). */
  readonly reportsUnprocessed: boolean;
  /** Sends one GET on a connection that serves nothing else. Resolves with the status; rejects without a response. */
  readonly statusOf: (socket: Socket, request: ProbeRequest) => Promise<number>;
}

/** Request of a health check. */
export interface ProbeRequest {
  readonly scheme: 'http' | 'https';
  /** `host:port`. */
  readonly authority: string;
  /** Path and query. */
  readonly path: string;
}
