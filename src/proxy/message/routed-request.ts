// Request as the pure parts of the data plane see it. The HTTP codecs implement these interfaces; nothing is copied
// into them, and no code here knows a socket or a version of HTTP.
import type { ListenerFacts, RequestFacts, RequestView } from '../../expression/cel/value-view.ts';

/** Section of a listener that a request belongs to (contract.md §6.3). */
export interface ServedSection {
  readonly listener: ListenerFacts;
  /** Binding of a route to the whole listener. */
  readonly ofListener: string;
  /** Binding of a route to this section; empty for the one section of a listener without any. */
  readonly ofSection: string;
  /** False for hosts that no section of the listener has: no route serves them. */
  readonly isServed: boolean;
}

/**
 * Request that is ready for matching: canonical path, host in lower case and without port, client address known. One
 * object per exchange; `view` is made when an expression or a query matcher first needs it.
 */
export interface RoutedRequest extends RequestFacts {
  /** Section of the listener that the request belongs to; undefined where no listener is known. */
  readonly section?: ServedSection | undefined;
  readonly authority: string;
  /** True when the target ends with an empty query, `?`: another target than without it (RFC 3986 §6.2.3). */
  readonly queryIsEmpty?: boolean;
  readonly view: RequestView;
}
