// Request as every stage between connection and upstream sees it: the parsed head, the edits of middlewares on top,
// and the source of its body. Both versions of HTTP present this interface; no later stage knows the version.

import type { ConsumerFacts } from '../../expression/cel/value-view.ts';
import type { FieldEdits } from '../fields/field-edits.ts';
import type { FieldLines } from '../fields/field-lines.ts';
import type { Security } from '../socket/security.ts';
import type { ClientAddress } from './client-address.ts';
import type { ClientEnds } from './client-ends.ts';
import type { RoutedRequest, ServedSection } from './routed-request.ts';

/** Sender of a request, as far as its connection knows. */
export interface DownstreamAddress extends ClientAddress {
  readonly scheme: 'http' | 'https';
  /** Connection of the client, the same object for all its requests; undefined: unknown. */
  readonly connection?: ClientEnds;
  /** Value of X-Forwarded-Client-Cert: URI names of the verified client certificate; empty when there are none. */
  readonly certificateUris: string;
  /** Cached forwarding lines, with their authority: they seldom change on one connection. */
  forwarding?: { readonly authority: string; readonly lines: string };
}

/** `stream`: the length is not known in advance. */
export type BodyKind = 'none' | 'length' | 'stream';

export interface ExchangeRequest extends RoutedRequest {
  /** Set by the exchange before the request is matched. */
  section: ServedSection | undefined;
  /** Set by the middleware that finds it. */
  consumer: ConsumerFacts | undefined;
  readonly protocol: 'HTTP/1.0' | 'HTTP/1.1' | 'HTTP/2.0';
  /** Path and query in canonical form, before any rewrite. */
  readonly target: string;
  readonly lines: FieldLines;
  /** TLS properties of the connection; undefined where there is none. */
  readonly security: Security | undefined;
  /**
   * Edits of middlewares. A caller that edits also calls `view.forgetHeaders()`, or uses the functions of the
   * exchange, which do.
   */
  readonly edits: FieldEdits;
  readonly bodyKind: BodyKind;
  /**
   * Bytes, with kind `length`. A `Content-Length: 0` is `length` with 0, or `none`; `canCarryBody` distinguishes
   * them.
   */
  readonly bodyLength: number;
  /** True when the head equals that of the previous request on the connection, byte for byte. */
  readonly repeats: boolean;
  /** True when the request has a Content-Length, 0 included, or a body of unknown length. */
  readonly canCarryBody: boolean;
  /** Names that `Connection` asks to remove, in lower case. */
  readonly named: readonly string[];
  /** Protocol of the requested upgrade, as sent; empty when there is none to pass on. */
  readonly upgrade: string;
  /** True when the client waits for 100 before it sends its body. */
  readonly expectContinue: boolean;
  sender(): DownstreamAddress;
  /** True when an evaluated expression reads the body and had none. */
  readonly bodyWanted: boolean;
  /** True when an evaluated expression exceeded its cost limit. */
  readonly isExhausted: boolean;
}
