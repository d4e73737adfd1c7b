// Request of a stream, as the rest of the data plane sees one: extended CONNECT becomes the upgrade that it would be
// in HTTP/1.1 (RFC 8441), so that routing, middlewares and upstreams handle one kind.
import { fieldId } from '../../fields/field-name.ts';
import type { ParsedFraming, ParsedRequest } from '../../message/parsed-request.ts';
import { FieldBlock } from '../field-block.ts';
import type { Stream } from '../stream.ts';

const none: readonly string[] = [];
const empty = new FieldBlock();

export class ParsedStream implements ParsedRequest, ParsedFraming {
  readonly protocol = 'HTTP/2.0';
  readonly repeats = false;
  readonly named = none;
  head = empty;
  kind: 'none' | 'length' | 'chunked' = 'none';
  length = 0;
  upgrade = '';
  expectContinue = false;

  read(stream: Stream): void {
    const { fields } = stream;
    this.head = fields;
    this.length = Math.max(0, fields.contentLength);
    this.upgrade = fields.method === 'CONNECT' ? fields.protocol : '';
    this.kind = fields.contentLength >= 0 ? 'length' : stream.headOnly || this.upgrade !== '' ? 'none' : 'chunked';
    this.expectContinue = this.kind !== 'none' && fields.find(fieldId.expect) >= 0;
  }

  get method(): string {
    return this.upgrade === '' ? this.head.method : 'GET';
  }

  get target(): string {
    return this.head.path;
  }
}
