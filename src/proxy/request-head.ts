// A request as the data plane's pure parts see it. Whoever parses HTTP presents these; nothing is copied into them, and
// nothing here knows a socket or a version of HTTP.
import type { RequestFacts, RequestTls, RequestView } from '../expression/cel/view.ts';

/** Field lines in the order in which they came. */
export interface Fields {
  /** Value of the first line of that lower-case name. */
  first(name: string): string | undefined;
  /** Every line: name in lower case, name as sent, value. */
  lines(): Iterable<readonly [lowerName: string, name: string, value: string]>;
}

/** A head as it was parsed, before anything was decided about it. */
export interface RequestHead {
  readonly method: string;
  /** Request target as sent: `/a?b`, `*`. */
  readonly target: string;
  /** Host and port as the client named them; empty when it named none. */
  readonly authority: string;
  readonly scheme: 'http' | 'https';
  /** Address of the socket's other end. */
  readonly remoteAddress: string;
  readonly fields: Fields;
  /** Present when the client showed a verified certificate. */
  readonly tls?: RequestTls | undefined;
}

/**
 * A request that may be matched: its path is settled, its host is lower-case and without port, its client is known.
 * One object per exchange; `view` is made when an expression or a query matcher first asks.
 */
export interface RoutedRequest extends RequestFacts {
  readonly authority: string;
  readonly view: RequestView;
}
