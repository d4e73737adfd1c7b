// Request target: host and path from the four forms of a target and the rules for Host (RFC 9112 §3.2, RFC 9110
// §7.2). A request that does not name exactly one host is refused; CONNECT is not supported.
import type { ProxyErrorType } from '../../errors.ts';
import { fieldId } from '../fields/field-name.ts';
import { authorityForm, canonicalHost } from '../target/host.ts';
import type { ParsedRequest } from './parsed-request.ts';

/** Filled again for each request; belongs to a connection. */
export class RequestTarget {
  /** Path as sent, without query; `*` for the asterisk form. */
  path = '';
  /** Query with its `?`, or empty. */
  query = '';
  /** Host and port as sent; empty only for HTTP/1.0 without Host. */
  authority = '';
  /** Host without port, in the canonical spelling of patterns. */
  host = '';
  /** True when the target names another authority than Host. */
  overridesHost = false;
  /** Reason of a refusal by `read`, for error messages. */
  problem = '';

  /** Reads the target; returns undefined when the request may go on. */
  read(parser: ParsedRequest): ProxyErrorType | undefined {
    const { method, target, head } = parser;
    this.problem = '';
    this.overridesHost = false;
    if (method === 'CONNECT') return 'method_not_allowed';
    const line = head.find(fieldId.host);
    if (line < 0 && parser.protocol !== 'HTTP/1.0') return this.#refuse('no Host');
    const sent = line < 0 ? '' : head.value(line);
    if (line >= 0 && this.#repeated(parser, line)) return this.#refuse('more than one Host');
    if (line >= 0 && !this.#readAuthority(sent)) return this.#refuse('invalid Host');
    if (line < 0) this.#noAuthority();
    if (target.charCodeAt(0) === 47) return this.#split(target, 0);
    if (target === '*') return method === 'OPTIONS' ? this.#split(target, 0) : this.#refuse('* with another method');
    return this.#readAbsolute(target, line < 0 ? undefined : sent);
  }

  /** Reads the absolute form. Its authority is the request's, and Host does not count (RFC 9112 §3.2.2). */
  #readAbsolute(target: string, host: string | undefined): ProxyErrorType | undefined {
    const match = /^https?:\/\/([^/?]*)/i.exec(target);
    if (match === null) return this.#refuse('invalid request target');
    const authority = match[1] ?? '';
    if (!this.#readAuthority(authority)) return this.#refuse('invalid host in the request target');
    this.overridesHost = host !== undefined && host !== authority;
    return this.#split(target, match[0].length);
  }

  #split(target: string, start: number): undefined {
    const mark = target.indexOf('?', start);
    const path = target.slice(start, mark < 0 ? target.length : mark);
    this.path = path === '' ? '/' : path;
    this.query = mark < 0 ? '' : target.slice(mark);
    return undefined;
  }

  #readAuthority(authority: string): boolean {
    // Requests of one connection are nearly always for one host.
    if (authority === this.authority) return authority !== '';
    const parts = authorityForm.exec(authority);
    if (parts === null || Number(parts[2] ?? 0) > 65_535) return false;
    this.authority = authority;
    this.host = canonicalHost(parts[1] ?? '');
    return true;
  }

  #noAuthority(): void {
    this.authority = '';
    this.host = '';
  }

  #repeated({ head }: ParsedRequest, first: number): boolean {
    for (let i = first + 1; i < head.count; i++) if (head.id(i) === fieldId.host) return true;
    return false;
  }

  #refuse(problem: string): ProxyErrorType {
    this.problem = problem;
    return 'bad_request';
  }
}
