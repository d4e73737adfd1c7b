// Response on its way to the client: the head of the upstream or of Sluice, and the edits of middlewares on top.
import { FieldEdits } from '../fields/field-edits.ts';
import { type FieldLines, FieldList } from '../fields/field-lines.ts';
import type { BodySource } from './body.ts';
import type { BodyKind } from './request.ts';

/** Head as parsed on an upstream's connection; valid until the response has been sent. */
export interface ResponseHead {
  readonly status: number;
  /** Empty where the version of HTTP has none. */
  readonly reason: string;
  readonly lines: FieldLines;
  /** `none` also for responses to HEAD, 204 and 304. */
  readonly bodyKind: BodyKind;
  /** Bytes, with kind `length`. */
  readonly bodyLength: number;
  /** Names that `Connection` asks to remove, in lower case. */
  readonly named: readonly string[];
  /** New protocol, with 101. */
  readonly upgrade: string;
}

const none: readonly string[] = [];

/** Head of an upstream, with the edits of middlewares and rules; interim heads are passed on unchanged. */
export type EditedHead = ResponseHead & { readonly edits?: FieldEdits };

/** One object per exchange slot, filled again for each response. */
export class ExchangeResponse implements ResponseHead {
  status = 0;
  reason = '';
  lines: FieldLines = FieldList.empty;
  bodyKind: BodyKind = 'none';
  bodyLength = 0;
  named: readonly string[] = none;
  upgrade = '';
  readonly edits = new FieldEdits();
  /** Source of the body; undefined for a response that Sluice makes, whose body is `own`. */
  source: BodySource | undefined;
  own: Uint8Array | undefined;

  clear(): void {
    this.status = 0;
    this.lines = FieldList.empty;
    this.source = undefined;
    this.own = undefined;
    this.edits.clear();
  }

  /**
   * Returns the values of all lines of that lower-case name as one, edits included; of Set-Cookie, which is no list,
   * the first.
   */
  header(lowerName: string): string | undefined {
    if (lowerName === 'set-cookie') return this.edits.first(this.lines, lowerName);
    return this.edits.combined(this.lines, lowerName);
  }

  /** Takes over an upstream's response. */
  relayed(head: ResponseHead, source: BodySource): void {
    this.status = head.status;
    this.reason = head.reason;
    this.lines = head.lines;
    this.bodyKind = head.bodyKind;
    this.bodyLength = head.bodyLength;
    this.named = head.named;
    this.upgrade = head.upgrade;
    this.source = source;
    this.own = undefined;
  }

  /**
   * Copies the lines. Called before the body is taken: a connection that has delivered its whole body may carry
   * another exchange, and hold the lines of another response, before this one is sent.
   */
  keepLines(): void {
    const { lines } = this;
    if (lines instanceof FieldList) return;
    const flat: string[] = [];
    for (let i = 0; i < lines.count; i++) flat.push(lines.name(i), lines.value(i));
    this.lines = new FieldList(flat);
  }

  /** Makes a response of Sluice's own. */
  local(status: number, fields: readonly string[], body: Uint8Array): void {
    this.status = status;
    this.reason = '';
    this.lines = fields.length === 0 ? FieldList.empty : new FieldList(fields);
    this.bodyKind = 'length';
    this.bodyLength = body.length;
    this.named = none;
    this.upgrade = '';
    this.source = undefined;
    this.own = body;
  }
}
