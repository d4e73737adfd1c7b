import { expect } from 'chai';
import fc from 'fast-check';
import { compileRequestTemplate } from '../../../../src/proxy/middleware/request-template.ts';
import { StubExchange } from '../../../support/stub-exchange.ts';

describe('interpolation in header values (contract.md §8.0)', () => {
  const { request } = new StubExchange({
    method: 'PUT',
    path: '/a/b',
    query: 'c=d',
    authority: 'shop.example.com:8080',
    scheme: 'https',
    fields: ['X-Tenant', 'acme', 'X-Tenant', 'second', 'X-Evil', '${request.host}'],
  });
  const filled = (text: string) => compileRequestTemplate(text).fill(request);

  const rows: readonly (readonly [string, string])[] = [
    ['${request.host}', 'shop.example.com'],
    ['${request.authority}', 'shop.example.com:8080'],
    ['${request.path}', '/a/b'],
    ['${request.method}', 'PUT'],
    ['${request.scheme}', 'https'],
    ['${request.clientIp}', request.clientIp],
    ['${request.header.X-Tenant}', 'acme, second'],
    ['${request.header.x-tenant}', 'acme, second'],
    ['${request.header.X-None}', ''],
    ['plain', 'plain'],
    ['a ${request.method} b ${request.path} c', 'a PUT b /a/b c'],
    [
      '${request.unknown} ${} ${request.header.} $ {request.host}',
      '${request.unknown} ${} ${request.header.} $ {request.host}',
    ],
    ['${request.header.X-Evil}', '${request.host}'],
    ['${${request.method}}', '${PUT}'],
    ['${request.host', '${request.host'],
  ];
  for (const [text, expected] of rows) {
    it(`${JSON.stringify(text)} becomes ${JSON.stringify(expected)}`, () => expect(filled(text)).to.equal(expected));
  }

  it('sends text of the configuration as UTF-8 bytes', () => {
    expect(Buffer.from(filled('é ${request.method}'), 'latin1').toString('utf8')).to.equal('é PUT');
  });

  it('is what replacing every known placeholder once gives', () => {
    const known: Readonly<Record<string, string>> = { 'request.method': 'PUT', 'request.path': '/a/b' };
    const piece = fc.constantFrom('${request.method}', '${request.path}', '${', '}', '$', '{', 'x', '${y}', ' ');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        const expected = text.replaceAll(/\$\{([^{}]*)\}/g, (whole, name: string) => known[name] ?? whole);
        expect(filled(text)).to.equal(expected);
      }),
    );
  });
});
