// Outgoing heads in HTTP/2, made from heads of other versions and of middlewares.
import { expect } from 'chai';
import { FieldList } from '../../../../src/proxy/fields/field-lines.ts';
import { HpackDecoder } from '../../../../src/proxy/http2/hpack/decoder.ts';
import { HpackEncoder } from '../../../../src/proxy/http2/hpack/encoder.ts';
import { encodeLines, encodeResponse } from '../../../../src/proxy/http2/outgoing-head.ts';
import { ExchangeResponse } from '../../../../src/proxy/message/response.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

function fieldsOf(encoder: HpackEncoder): string[] {
  const fields: string[] = [];
  const sink = { field: (name: string, value: string) => fields.push(`${name}: ${value}`) };
  expect(new HpackDecoder(0).decode(encoder.bytes, 0, encoder.length, sink)).to.equal('');
  return fields;
}

describe('a head in HTTP/2', () => {
  it('has names in lower case, no hop-by-hop fields, and no blanks around values', () => {
    const response = new ExchangeResponse();
    response.status = 200;
    response.lines = new FieldList([
      'Content-Type',
      'a/b',
      'Connection',
      'x-gone',
      'Keep-Alive',
      '1',
      'Upgrade',
      'h2c',
      'X-Gone',
      '1',
    ]);
    response.named = ['x-gone'];
    response.edits.set('X-Set', ' by a middleware\t');
    const encoder = new HpackEncoder();
    encodeResponse(encoder, response, { serverName: 'sluice', clock: new ManualClock() });
    expect(fieldsOf(encoder)).to.deep.equal([
      ':status: 200',
      'server: sluice',
      'content-type: a/b',
      'x-set: by a middleware',
      'date: Thu, 01 Jan 2026 00:00:00 GMT',
    ]);
  });

  it('keeps bytes of UTF-8 that look like blanks elsewhere', () => {
    const encoder = new HpackEncoder();
    const bytes = Buffer.from('voilà', 'utf8').toString('latin1');
    encoder.begin();
    encodeLines(encoder, `X-A: ${bytes}\r\nX-B:\t${bytes} \r\nX-C:\r\n`);
    expect(fieldsOf(encoder)).to.deep.equal([`x-a: ${bytes}`, `x-b: ${bytes}`, 'x-c: ']);
  });
});
