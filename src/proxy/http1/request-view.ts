// A parsed request as matching, actions and logs look at it: nothing of the connection, one object per connection.

import type { ProxyErrorType } from '../../errors.ts';
import { canonicalPath } from '../canonical-path.ts';
import type { Question } from '../table.ts';
import { fieldId } from './field-name.ts';
import type { RequestParser } from './request-parser.ts';
import { RequestTarget } from './request-target.ts';

/** The request begun last in this thread. */
let latest: RequestParser | undefined;

/** Method and target of that request: what a thread that falls was probably about. */
export const requestAtHand = (): string => (latest === undefined ? 'none' : `${latest.method} ${latest.target}`);

export class RequestView implements Question {
  readonly parser: RequestParser;
  /** Canonical, or as sent where the listener only reports (architecture.md §6.8). */
  path = '';
  readonly #target = new RequestTarget();

  constructor(parser: RequestParser) {
    this.parser = parser;
  }

  /** Takes over the head that `parser` holds. Undefined when the request may go on. */
  read(pathNormalization: 'enforce' | 'report'): ProxyErrorType | undefined {
    latest = this.parser;
    const refused = this.#target.read(this.parser);
    if (refused !== undefined) return refused;
    const sent = this.#target.path;
    const canonical = sent === '*' ? sent : canonicalPath(sent);
    if (canonical === undefined) {
      this.#target.fault = 'invalid path';
      return 'bad_request';
    }
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

  header(name: string): string | undefined {
    return this.parser.head.first(name);
  }
}
