// Request as the pure parts of the data plane see it. The HTTP codecs implement these interfaces; nothing is copied
// into them, and no code here knows a socket or a version of HTTP.
import type { RequestFacts, RequestView } from '../../expression/cel/value-view.ts';

/**
 * Request that is ready for matching: canonical path, host in lower case and without port, client address known. One
 * object per exchange; `view` is made when an expression or a query matcher first needs it.
 */
export interface RoutedRequest extends RequestFacts {
  readonly authority: string;
  /** True when the target ends with an empty query, `?`: another target than without it (RFC 3986 §6.2.3). */
  readonly queryIsEmpty?: boolean;
  readonly view: RequestView;
}
