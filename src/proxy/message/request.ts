// A request as everything between its connection and its upstream sees it: what was parsed, what middlewares changed
// on top, and how its body comes. Both versions of HTTP present this; nobody behind it knows which it was.

import type { FieldEdits } from '../fields/field-edits.ts';
import type { FieldLines } from '../fields/field-lines.ts';
import type { Security } from '../socket/security.ts';
import type { ClientAddress } from './client-address.ts';
import type { RoutedRequest } from './routed-request.ts';

/** Who sent a request, as far as its connection can tell. */
export interface DownstreamAddress extends ClientAddress {
  readonly scheme: 'http' | 'https';
  /** Value of X-Forwarded-Client-Cert: URI names of the verified client certificate; empty when there are none. */
  readonly certificateUris: string;
  /** What upstreams were told of it last, and for which authority: that seldom changes on one connection. */
  told?: { readonly authority: string; readonly lines: string };
}

/** `stream`: nobody knows how long it is going to be. */
export type BodyKind = 'none' | 'length' | 'stream';

export interface ExchangeRequest extends RoutedRequest {
  readonly protocol: 'HTTP/1.0' | 'HTTP/1.1' | 'HTTP/2.0';
  /** Path and query as everyone sees them: canonical, before any rewrite. */
  readonly target: string;
  readonly lines: FieldLines;
  /** What TLS adds to the connection; undefined where there is none. */
  readonly security: Security | undefined;
  /** Whoever edits calls `view.forgetHeaders()`, or uses the functions of the exchange, which do. */
  readonly edits: FieldEdits;
  readonly bodyKind: BodyKind;
  /** Bytes, with kind `length`. A `Content-Length: 0` is `length` with 0, or `none`; `canCarryBody` tells. */
  readonly bodyLength: number;
  /** Its head is that of the request before on the same connection, byte for byte. */
  readonly repeats: boolean;
  /** It has a Content-Length, 0 included, or a body of unknown length. */
  readonly canCarryBody: boolean;
  /** Names that `Connection` asks to remove, in lower case. */
  readonly named: readonly string[];
  /** Protocol that the client wants to change to, as sent; empty when there is none to pass on. */
  readonly upgrade: string;
  /** The client waits for 100 before it sends its body. */
  readonly expectContinue: boolean;
  sender(): DownstreamAddress;
  /** An expression that was asked reads the body and had none. */
  readonly bodyWanted: boolean;
  /** An expression that was asked needed more work than it may do. */
  readonly isExhausted: boolean;
}
