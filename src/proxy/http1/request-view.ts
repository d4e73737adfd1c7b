// A parsed request as matching, actions and logs look at it: nothing of the connection, one object per connection.

import type { ProxyErrorType } from '../../errors.ts';
import { RequestView as ExpressionView } from '../../expression/cel/view.ts';
import { canonicalPath } from '../match/canonical-path.ts';
import type { ClientAddress } from '../match/client-address.ts';
import type { RoutedRequest } from '../request-head.ts';
import { fieldId } from './field-name.ts';
import type { RequestParser } from './request-parser.ts';
import { RequestTarget } from './request-target.ts';

/** The request begun last in this thread. */
let latest: RequestParser | undefined;

/** Method and target of that request: what a thread that falls was probably about. */
export const requestAtHand = (): string => (latest === undefined ? 'none' : `${latest.method} ${latest.target}`);

export class RequestView implements RoutedRequest {
  readonly parser: RequestParser;
  /** TLS is not terminated in this version. */
  readonly scheme = 'http';
  readonly #sender: () => ClientAddress;
  #view: ExpressionView | undefined;
  #viewIsStale = true;
  /** Canonical, or as sent where the listener only reports (architecture.md §6.8). */
  path = '';
  /** Differs from `path` only where the listener reports. */
  canonicalPath = '';
  readonly #target = new RequestTarget();

  /** `sender` is asked when somebody wants to know the client's address. */
  constructor(parser: RequestParser, sender: () => ClientAddress) {
    this.parser = parser;
    this.#sender = sender;
  }

  /** Takes over the head that `parser` holds. Undefined when the request may go on. */
  read(pathNormalization: 'enforce' | 'report'): ProxyErrorType | undefined {
    latest = this.parser;
    this.#viewIsStale = true;
    const refused = this.#target.read(this.parser);
    if (refused !== undefined) return refused;
    const sent = this.#target.path;
    const canonical = sent === '*' ? sent : canonicalPath(sent);
    if (canonical === undefined) {
      this.#target.fault = 'invalid path';
      return 'bad_request';
    }
    this.canonicalPath = canonical;
    this.path = pathNormalization === 'report' ? sent : canonical;
    const { head } = this.parser;
    const expectation = head.find(fieldId.expect);
    if (expectation >= 0 && head.value(expectation).toLowerCase() !== '100-continue') return 'expectation_failed';
    return undefined;
  }

  /** Why `read` refused, for people; may be empty. */
  get fault(): string {
    return this.#target.fault;
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

  /** With its `?`, or empty. */
  get queryPart(): string {
    return this.#target.query;
  }

  get clientIp(): string {
    return this.#sender().clientIp;
  }

  /** What expressions see; made when the first one asks, and used again for later requests of the connection. */
  get view(): ExpressionView {
    this.#view ??= new ExpressionView(this);
    if (this.#viewIsStale) this.#view.reset(this);
    this.#viewIsStale = false;
    return this.#view;
  }

  header(name: string): string | undefined {
    return this.parser.head.first(name);
  }

  *headers(): Generator<readonly [name: string, value: string]> {
    const { head } = this.parser;
    for (let line = 0; line < head.count; line++) yield [head.name(line).toLowerCase(), head.value(line)];
  }
}
