// View of a parsed request for matching, actions and logs: independent of the connection, one object per connection,
// or per stream of one.

import { randomUUIDv7 } from 'node:crypto';
import type { ProxyErrorType } from '../../errors.ts';
import {
  type ConsumerFacts,
  RequestView as ExpressionView,
  type ListenerFacts,
  type RequestTls,
} from '../../expression/cel/value-view.ts';
import { canonicalPath } from '../../model/canonical-path.ts';
import { editedLines, FieldEdits } from '../fields/field-edits.ts';
import { combinedValue, type FieldLines, listElements, readableText } from '../fields/field-lines.ts';
import { fieldId } from '../fields/field-name.ts';
import type { Security } from '../socket/security.ts';
import type { ParsedFraming, ParsedRequest } from './parsed-request.ts';
import type { BodyKind, DownstreamAddress, ExchangeRequest } from './request.ts';
import { RequestTarget } from './request-target.ts';
import type { ServedSection } from './routed-request.ts';

/** Request begun last in this thread. */
let latest: ParsedRequest | undefined;

/** Returns method and target of that request: the probable cause when the thread crashes. */
export const currentRequest = (): string => (latest === undefined ? 'none' : `${latest.method} ${latest.target}`);

/** Connection's knowledge of its remote end. */
export interface Peer {
  readonly security: Security | undefined;
  sender(): DownstreamAddress;
}

export class RequestView implements ExchangeRequest {
  readonly parser: ParsedRequest;
  readonly edits = new FieldEdits();
  readonly #framing: ParsedFraming;
  readonly #peer: Peer;
  #view: ExpressionView | undefined;
  #viewIsStale = true;
  #normalization: 'enforce' | 'report' = 'enforce';
  /** Canonical path, or as sent where the listener only reports (architecture.md §6.8). */
  path = '';
  /** Canonical path; differs from `path` only where the listener reports. */
  canonicalPath = '';
  section: ServedSection | undefined;
  consumer: ConsumerFacts | undefined;
  readonly #target = new RequestTarget();
  #id = '';

  constructor(parser: ParsedRequest, framing: ParsedFraming, peer: Peer) {
    this.parser = parser;
    this.#framing = framing;
    this.#peer = peer;
  }

  /** Takes over the head in `parser`. Returns undefined when the request may go on. */
  read(pathNormalization: 'enforce' | 'report'): ProxyErrorType | undefined {
    latest = this.parser;
    this.#viewIsStale = true;
    this.#id = '';
    this.consumer = undefined;
    this.edits.clear();
    if (this.parser.repeats && pathNormalization === this.#normalization) {
      this.#overrideHost();
      return undefined;
    }
    this.#normalization = pathNormalization;
    const refused = this.#target.read(this.parser);
    if (refused !== undefined) return refused;
    this.#overrideHost();
    const sent = this.#target.path;
    const canonical = sent === '*' ? sent : canonicalPath(sent);
    if (canonical === undefined) {
      this.#target.problem = 'invalid path';
      return 'bad_request';
    }
    this.canonicalPath = canonical;
    this.path = pathNormalization === 'report' ? sent : canonical;
    const { head } = this.parser;
    return head.find(fieldId.expect) >= 0 && expectsMore(head) ? 'expectation_failed' : undefined;
  }

  /** Replaces Host by the effective authority, for middlewares and services that get Host. */
  #overrideHost(): void {
    if (this.#target.overridesHost) this.edits.set('Host', this.#target.authority);
  }

  /** Reason of a refusal by `read`, for error messages; may be empty. */
  get problem(): string {
    return this.#target.problem;
  }

  get repeats(): boolean {
    return this.parser.repeats;
  }

  get id(): string {
    if (this.#id === '') this.#id = randomUUIDv7();
    return this.#id;
  }

  get method(): string {
    return this.parser.method;
  }

  get host(): string {
    return this.#target.host;
  }

  get authority(): string {
    return this.#target.authority;
  }

  get query(): string {
    return this.#target.query.slice(1);
  }

  get queryIsEmpty(): boolean {
    return this.#target.query.length === 1;
  }

  get target(): string {
    return this.path + this.#target.query;
  }

  get protocol(): 'HTTP/1.0' | 'HTTP/1.1' | 'HTTP/2.0' {
    return this.parser.protocol;
  }

  get scheme(): 'http' | 'https' {
    return this.#peer.security === undefined ? 'http' : 'https';
  }

  get listener(): ListenerFacts | undefined {
    return this.section?.listener;
  }

  get tls(): RequestTls | undefined {
    return this.#peer.security?.client?.facts;
  }

  get security(): Security | undefined {
    return this.#peer.security;
  }

  get lines(): FieldLines {
    return this.parser.head;
  }

  get bodyKind(): BodyKind {
    const { kind } = this.#framing;
    return kind === 'chunked' ? 'stream' : kind === 'length' ? 'length' : 'none';
  }

  get bodyLength(): number {
    return this.#framing.length;
  }

  get canCarryBody(): boolean {
    return this.bodyKind !== 'none';
  }

  get named(): readonly string[] {
    return this.#framing.named;
  }

  /**
   * Hides what Connection names from matchers, policies and logs, as it stays on this connection: a field that the
   * upstream does not get admits no request to it (RFC 9110 §7.6.1).
   */
  hideNamed(): void {
    for (const name of this.#framing.named) if (name !== 'host') this.edits.removeParsed(name);
  }

  get upgrade(): string {
    return this.#framing.upgrade;
  }

  get expectContinue(): boolean {
    return this.#framing.expectContinue;
  }

  get bodyWanted(): boolean {
    return !this.#viewIsStale && this.#view?.bodyWanted === true;
  }

  get isExhausted(): boolean {
    return !this.#viewIsStale && this.#view?.isExhausted === true;
  }

  sender(): DownstreamAddress {
    return this.#peer.sender();
  }

  get clientIp(): string {
    return this.#peer.sender().clientIp;
  }

  /** Request as expressions see it; made on first use, and reused for later requests of the connection. */
  get view(): ExpressionView {
    this.#view ??= new ExpressionView(this, readableText);
    if (this.#viewIsStale) this.#view.reset(this);
    this.#viewIsStale = false;
    return this.#view;
  }

  header(name: string): string | undefined {
    const { head } = this.parser;
    return this.edits.empty ? combinedValue(head, name) : this.edits.combined(head, name);
  }

  *headers(): Generator<readonly [name: string, value: string]> {
    for (const [lower, , value] of editedLines(this.parser.head, this.edits)) yield [lower, value];
  }
}

/** Returns whether Expect asks for more than 100-continue; the field is a list (RFC 9110 §10.1.1). */
const expectsMore = (head: FieldLines): boolean =>
  listElements(combinedValue(head, 'expect') ?? '').some((each) => each.toLowerCase() !== '100-continue');
