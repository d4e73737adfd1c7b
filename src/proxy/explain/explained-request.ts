// Hypothetical request, presented to the routing table as a real one is.

import { randomUUIDv7 } from 'node:crypto';
import {
  type ConsumerFacts,
  type ListenerFacts,
  type RequestTls,
  RequestView,
} from '../../expression/cel/value-view.ts';
import type { ExplainedChange } from '../../model/answers/explained-outcome.ts';
import { canonicalPath } from '../../model/canonical-path.ts';
import { ConsumerDirectory } from '../consumers/consumer-directory.ts';
import { combinedValue, FieldList, fieldText, listElements, readableText } from '../fields/field-lines.ts';
import type { RoutedRequest, ServedSection } from '../message/routed-request.ts';
import { hostOf } from '../target/host.ts';
import type { ExplainedListener } from './explained-listener.ts';

export interface RequestQuestion {
  readonly method: string;
  /** `/path?query`, or absolute: then scheme and authority come from it. */
  readonly url: string;
  /** Values by name, in any case. `host` names the authority when `url` does not. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Address that expressions see; the request of a listener without trusted proxies has its peer's. */
  readonly clientIp: string;
  /** As far as expressions see it; absent is empty. */
  readonly body?: string;
  /** Absent: on no listener, where routes that are bound to one serve nothing. */
  readonly on?: ExplainedListener;
  /** Default: none. */
  readonly consumers?: ConsumerDirectory;
}

export class ExplainedRequest implements RoutedRequest {
  readonly id = randomUUIDv7();
  readonly method: string;
  readonly scheme: 'http' | 'https';
  readonly authority: string;
  readonly host: string;
  /** Canonical; empty when there is no canonical form, and then the request is answered 400. */
  readonly path: string;
  readonly query: string;
  readonly queryIsEmpty: boolean;
  readonly clientIp: string;
  readonly tls: RequestTls | undefined = undefined;
  readonly on: ExplainedListener | undefined;
  readonly section: ServedSection | undefined;
  readonly view: RequestView;
  readonly bodyBytes: number;
  readonly consumers: ConsumerDirectory;
  /** Consumer that a middleware has found. */
  consumer: ConsumerFacts | undefined;
  /** Query in place of the request's; undefined: unchanged. */
  upstreamQuery: string | undefined;
  /** Host that a middleware has set. */
  setHost: string | undefined;
  /** As they would travel. */
  #lines: readonly (readonly [name: string, value: string])[];

  constructor({ method, url, headers, clientIp, body = '', on, consumers = ConsumerDirectory.none }: RequestQuestion) {
    const lines = Object.entries(headers).flatMap(([name, value]) =>
      [value].flat().map((each): readonly [string, string] => [name.toLowerCase(), fieldText(each)]),
    );
    const named = listElements(combinedValue(new FieldList(lines.flat()), 'connection') ?? '');
    const hidden = new Set(named.map((each) => each.toLowerCase()).filter((name) => name !== 'host'));
    this.#lines = lines.filter(([name]) => !hidden.has(name));
    const [, scheme, authority, target = url] = /^(https?):\/\/([^/?#]*)(.*)$/is.exec(url) ?? [];
    const queryAt = target.indexOf('?');
    const path = queryAt < 0 ? target : target.slice(0, queryAt);
    this.method = method;
    this.consumers = consumers;
    this.scheme = on?.scheme ?? (scheme?.toLowerCase() === 'https' ? 'https' : 'http');
    this.authority = authority ?? this.#lines.find(([name]) => name === 'host')?.[1] ?? '';
    this.host = hostOf(this.authority);
    this.on = on;
    this.section = on?.sectionOf(this.host);
    this.path = canonicalPath(path === '' && authority !== undefined ? '/' : path) ?? '';
    this.query = queryAt < 0 ? '' : target.slice(queryAt + 1);
    this.queryIsEmpty = queryAt >= 0 && this.query === '';
    this.clientIp = clientIp;
    this.view = new RequestView(this, readableText);
    this.view.attachBody({ raw: body, whole: true });
    this.bodyBytes = Buffer.byteLength(body);
  }

  get listener(): ListenerFacts | undefined {
    return this.section?.listener;
  }

  /** A middleware sets, adds or removes a field. */
  change({ name, value, append }: ExplainedChange): void {
    const lower = name.toLowerCase();
    if (lower === 'host') this.setHost = value ?? undefined;
    const others = append ? this.#lines : this.#lines.filter(([each]) => each !== lower);
    this.#lines = value === null ? others : [...others, [lower, fieldText(value)]];
    this.view.forgetHeaders();
  }

  header(name: string): string | undefined {
    return combinedValue(new FieldList(this.#lines.flat()), name);
  }

  headers(): Iterable<readonly [name: string, value: string]> {
    return this.#lines;
  }
}
