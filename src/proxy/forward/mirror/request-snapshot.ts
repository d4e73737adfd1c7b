// Request snapshot: a request that outlives its exchange; all of it is copied when it is made.
import type { RequestTls, RequestView } from '../../../expression/cel/value-view.ts';
import { editedLines, type FieldEdits } from '../../fields/field-edits.ts';
import { type FieldLines, FieldList } from '../../fields/field-lines.ts';
import type { BodyKind, DownstreamAddress, ExchangeRequest } from '../../message/request.ts';

export class RequestSnapshot implements ExchangeRequest {
  readonly id: string;
  readonly protocol: ExchangeRequest['protocol'];
  readonly method: string;
  readonly scheme: 'http' | 'https';
  readonly authority: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
  readonly queryIsEmpty: boolean;
  readonly target: string;
  readonly clientIp: string;
  readonly tls: RequestTls | undefined;
  readonly security: ExchangeRequest['security'];
  readonly lines: FieldLines;
  readonly edits: FieldEdits;
  readonly bodyKind: BodyKind;
  readonly bodyLength: number;
  readonly canCarryBody: boolean;
  readonly named: readonly string[];
  readonly upgrade = '';
  readonly expectContinue = false;
  readonly bodyWanted = false;
  readonly isExhausted = false;
  readonly repeats = false;
  readonly section: ExchangeRequest['section'];
  readonly consumer: ExchangeRequest['consumer'];
  readonly #sender: DownstreamAddress;

  constructor(request: ExchangeRequest) {
    const { lines } = request;
    const flat: string[] = [];
    for (let i = 0; i < lines.count; i++) flat.push(lines.name(i), lines.value(i));
    this.id = request.id;
    this.protocol = request.protocol;
    this.method = request.method;
    this.scheme = request.scheme;
    this.authority = request.authority;
    this.host = request.host;
    this.path = request.path;
    this.query = request.query;
    this.queryIsEmpty = request.queryIsEmpty === true;
    this.target = request.target;
    this.clientIp = request.clientIp;
    this.tls = request.tls;
    this.security = request.security;
    this.section = request.section;
    this.consumer = request.consumer;
    this.lines = new FieldList(flat);
    this.edits = request.edits.copy();
    this.bodyKind = request.bodyKind;
    this.bodyLength = request.bodyLength;
    this.canCarryBody = request.canCarryBody;
    this.named = [...request.named];
    this.#sender = request.sender();
  }

  sender(): DownstreamAddress {
    return this.#sender;
  }

  get view(): RequestView {
    throw new Error('no expression is asked about a copy');
  }

  header(lowerName: string): string | undefined {
    return this.edits.combined(this.lines, lowerName);
  }

  *headers(): Generator<readonly [name: string, value: string]> {
    for (const [lower, , value] of editedLines(this.lines, this.edits)) yield [lower, value];
  }
}
