// A request as the data plane's pure parts see it. Whoever parses HTTP presents these; nothing is copied into them, and
// nothing here knows a socket or a version of HTTP.
import type { RequestFacts, RequestView } from '../../expression/cel/value-view.ts';

/**
 * A request that may be matched: its path is settled, its host is lower-case and without port, its client is known.
 * One object per exchange; `view` is made when an expression or a query matcher first asks.
 */
export interface RoutedRequest extends RequestFacts {
  readonly authority: string;
  /** Its target ends with a `?` that nothing follows: another target than without it (RFC 3986 §6.2.3). */
  readonly queryIsEmpty?: boolean;
  readonly view: RequestView;
}
