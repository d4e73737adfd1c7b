// A request as the routing table sees it, made from what a client would send: no connection, no parser.
import { randomUUIDv7 } from 'node:crypto';
import { type ListenerFacts, type RequestTls, RequestView } from '../../src/expression/cel/value-view.ts';
import { canonicalPath } from '../../src/model/canonical-path.ts';
import { readableText, separatorOf } from '../../src/proxy/fields/field-lines.ts';
import type { ServedListener } from '../../src/proxy/match/served-listener.ts';
import type { RoutedRequest, ServedSection } from '../../src/proxy/message/routed-request.ts';
import { hostOf } from '../../src/proxy/target/host.ts';

export interface Sent {
  readonly method?: string;
  /** Path and query. */
  readonly target?: string;
  readonly authority?: string;
  readonly scheme?: 'http' | 'https';
  readonly clientIp?: string;
  /** Field lines by lower-case name; a list stands for several lines. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly tls?: RequestTls;
  /** Listener that it comes in on; undefined: none is known. */
  readonly listener?: ServedListener;
  /** `report`: the path stays as it was sent. */
  readonly pathNormalization?: 'enforce' | 'report';
}

export class TestRequest implements RoutedRequest {
  readonly id = randomUUIDv7();
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly queryIsEmpty: boolean;
  readonly authority: string;
  readonly host: string;
  readonly scheme: 'http' | 'https';
  readonly clientIp: string;
  readonly tls: RequestTls | undefined;
  readonly section: ServedSection | undefined;
  readonly #fields: ReadonlyMap<string, readonly string[]>;
  #view: RequestView | undefined;

  /** Throws for a path without a canonical form, which a listener answers 400. */
  constructor({ headers = {}, pathNormalization = 'enforce', target = '/', ...sent }: Sent = {}) {
    const [path = '', ...query] = target.split('?');
    const canonical = path === '*' || pathNormalization === 'report' ? path : canonicalPath(path);
    if (canonical === undefined) throw new Error(`no canonical form: ${path}`);
    this.path = canonical;
    this.query = query.join('?');
    this.queryIsEmpty = query.length > 0 && this.query === '';
    this.method = sent.method ?? 'GET';
    this.authority = sent.authority ?? 'shop.test';
    this.host = hostOf(this.authority);
    this.scheme = sent.scheme ?? 'http';
    this.clientIp = sent.clientIp ?? '192.0.2.1';
    this.tls = sent.tls;
    this.section = sent.listener?.sectionOf(this.host);
    this.#fields = new Map(Object.entries(headers).map(([name, value]) => [name, [value].flat()]));
  }

  get listener(): ListenerFacts | undefined {
    return this.section?.listener;
  }

  get view(): RequestView {
    this.#view ??= new RequestView(this, readableText);
    return this.#view;
  }

  header(name: string): string | undefined {
    return this.#fields.get(name)?.join(separatorOf(name));
  }

  *headers(): Generator<readonly [name: string, value: string]> {
    for (const [name, values] of this.#fields) for (const value of values) yield [name, value];
  }
}
