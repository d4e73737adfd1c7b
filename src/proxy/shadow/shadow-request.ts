// Request of a client as a configuration sees it that does not serve it: the same head, certificate and body, with a
// section, a view and edits of its own, so that nothing of it reaches the exchange.
import {
  type ConsumerFacts,
  RequestView as ExpressionView,
  type ListenerFacts,
  type RequestTls,
} from '../../expression/cel/value-view.ts';
import { editedLines, FieldEdits } from '../fields/field-edits.ts';
import { combinedValue, type FieldLines, readableText } from '../fields/field-lines.ts';
import type { BodyKind, DownstreamAddress, ExchangeRequest } from '../message/request.ts';
import type { ServedSection } from '../message/routed-request.ts';
import type { Security } from '../socket/security.ts';

export class ShadowRequest implements ExchangeRequest {
  edits = new FieldEdits();
  section: ServedSection | undefined;
  method = '';
  path = '';
  host = '';
  consumer: ConsumerFacts | undefined;
  readonly repeats = false;
  #request: ExchangeRequest;
  #view: ExpressionView | undefined;
  #viewIsStale = true;

  constructor(request: ExchangeRequest) {
    this.#request = request;
  }

  /** Takes over a request. @param edits those that it had before any middleware */
  reset(request: ExchangeRequest, section: ServedSection | undefined, edits: FieldEdits): void {
    this.#request = request;
    this.method = request.method;
    this.path = request.path;
    this.host = request.host;
    this.section = section;
    this.consumer = undefined;
    this.#viewIsStale = true;
    if (!edits.empty) this.edits = edits.copy();
    else this.edits.clear();
  }

  get id(): string {
    return this.#request.id;
  }

  get authority(): string {
    return this.#request.authority;
  }

  get query(): string {
    return this.#request.query;
  }

  get queryIsEmpty(): boolean {
    return this.#request.queryIsEmpty === true;
  }

  get target(): string {
    return this.#request.target;
  }

  get protocol(): 'HTTP/1.0' | 'HTTP/1.1' | 'HTTP/2.0' {
    return this.#request.protocol;
  }

  get scheme(): 'http' | 'https' {
    return this.#request.scheme;
  }

  get clientIp(): string {
    return this.#request.clientIp;
  }

  get listener(): ListenerFacts | undefined {
    return this.section?.listener;
  }

  get tls(): RequestTls | undefined {
    return this.#request.tls;
  }

  get security(): Security | undefined {
    return this.#request.security;
  }

  get lines(): FieldLines {
    return this.#request.lines;
  }

  get bodyKind(): BodyKind {
    return this.#request.bodyKind;
  }

  get bodyLength(): number {
    return this.#request.bodyLength;
  }

  get canCarryBody(): boolean {
    return this.#request.canCarryBody;
  }

  get named(): readonly string[] {
    return this.#request.named;
  }

  get upgrade(): string {
    return this.#request.upgrade;
  }

  get expectContinue(): boolean {
    return this.#request.expectContinue;
  }

  get bodyWanted(): boolean {
    return !this.#viewIsStale && this.#view?.bodyWanted === true;
  }

  get isExhausted(): boolean {
    return !this.#viewIsStale && this.#view?.isExhausted === true;
  }

  sender(): DownstreamAddress {
    return this.#request.sender();
  }

  /** The body is in it where the exchange has read it, or there is none. */
  get view(): ExpressionView {
    this.#view ??= new ExpressionView(this, readableText);
    if (!this.#viewIsStale) return this.#view;
    this.#viewIsStale = false;
    this.#view.reset(this);
    const body = this.#request.view.bodyText ?? (this.bodyKind === 'none' ? noBody : undefined);
    if (body !== undefined) this.#view.attachBody(body);
    return this.#view;
  }

  header(name: string): string | undefined {
    return this.edits.empty ? combinedValue(this.lines, name) : this.edits.combined(this.lines, name);
  }

  *headers(): Generator<readonly [name: string, value: string]> {
    for (const [lower, , value] of editedLines(this.lines, this.edits)) yield [lower, value];
  }
}

const noBody = { raw: '', whole: true };
