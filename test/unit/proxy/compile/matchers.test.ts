import { expect } from 'chai';
import type { Match } from '../../../../src/model/route.ts';
import type { Sent } from '../../../support/routed-request.ts';
import { aGroup, aRoute, tableOf, winner } from '../../../support/routing.ts';

const shop = 'shop.test';

/** contract.md §6.3, each row with what agrees and what does not. */
const rows: readonly (readonly [row: string, match: Match, agrees: readonly Sent[], not: readonly Sent[]])[] = [
  [
    'hostname: exact, without port, whatever its case',
    { hostnames: ['Shop.Test'] },
    [{ authority: shop }, { authority: 'SHOP.TEST:8080' }],
    [{ authority: 'a.shop.test' }, { authority: 'test' }],
  ],
  ['hostname: *', { hostnames: ['*'] }, [{ authority: shop }, { authority: '' }], []],
  [
    'hostname: *.suffix stands for one or more labels',
    { hostnames: ['*.shop.test'] },
    [{ authority: 'a.shop.test' }, { authority: 'b.A.shop.test:1' }],
    [{ authority: shop }, { authority: 'xshop.test' }, { authority: '.shop.test' }],
  ],
  [
    'hostname: IPv6',
    { hostnames: ['[::1]'] },
    [{ authority: '[::1]' }, { authority: '[::1]:80' }],
    [{ authority: '[::2]' }],
  ],
  ['hostname: empty set', { hostnames: [] }, [{ authority: 'any.org' }], []],
  [
    'method: exact; configured in any case',
    { methods: ['get', 'PUT'] },
    [{ method: 'GET' }, { method: 'PUT' }],
    [{ method: 'put' }, { method: 'get' }, { method: 'POST' }],
  ],
  [
    'gRPC',
    { grpc: true },
    [
      { headers: { 'content-type': 'application/grpc+proto' } },
      { headers: { 'content-type': 'application/grpc-web' } },
    ],
    [{}, { headers: { 'content-type': 'application/json' } }],
  ],
  ['gRPC: false asks nothing', { grpc: false }, [{}, { headers: { 'content-type': 'application/grpc' } }], []],
  [
    'header: byte-equal to all lines joined by a comma',
    { headers: [{ name: 'X-A', value: '1' }] },
    [{ headers: { 'x-a': '1' } }],
    [{}, { headers: { 'x-a': ['1', '2'] } }, { headers: { 'x-a': ['1', '1'] } }, { headers: { 'x-a': '11' } }],
  ],
  [
    'header: several lines are what one line with a comma is',
    { headers: [{ name: 'X-A', value: '1, 2' }] },
    [{ headers: { 'x-a': ['1', '2'] } }, { headers: { 'x-a': '1, 2' } }],
    [{ headers: { 'x-a': ['2', '1'] } }, { headers: { 'x-a': '1' } }],
  ],
  [
    'header: the first line alone, where the matcher says so',
    { headers: [{ name: 'X-A', value: '1', multiple: 'first' }] },
    [{ headers: { 'x-a': ['1', '2'] } }, { headers: { 'x-a': '1' } }],
    [{ headers: { 'x-a': ['2', '1'] } }, { headers: { 'x-a': ['', '1'] } }, {}],
  ],
  [
    'header: any line, where the matcher says so',
    { headers: [{ name: 'X-A', value: '^1', regex: true, multiple: 'any' }] },
    [{ headers: { 'x-a': ['2', '11'] } }, { headers: { 'x-a': '1' } }],
    [{ headers: { 'x-a': ['2', '21'] } }, {}],
  ],
  [
    'header: presence of any line, empty ones aside',
    { headers: [{ name: 'X-A', multiple: 'any' }] },
    [{ headers: { 'x-a': ['', '2'] } }],
    [{ headers: { 'x-a': ['', ''] } }, {}],
  ],
  [
    'header: lines of cookie are one value with each choice',
    { headers: [{ name: 'cookie', value: 'a=1; b=2', multiple: 'reject' }] },
    [{ headers: { cookie: ['a=1', 'b=2'] } }],
    [{ headers: { cookie: 'a=1' } }],
  ],
  [
    'header: a repeated one is taken by the matcher that rejects it',
    { headers: [{ name: 'X-A', value: '1', multiple: 'reject' }] },
    [{ headers: { 'x-a': '1' } }, { headers: { 'x-a': ['2', '3'] } }],
    [{ headers: { 'x-a': '2' } }, {}],
  ],
  [
    'query: any value, where the matcher says so',
    { queryParams: [{ name: 'a', value: '1', multiple: 'any' }] },
    [{ target: '/?a=2&a=1' }],
    [{ target: '/?a=2&b=1' }, {}],
  ],
  [
    'query: all values as one, where the matcher says so',
    { queryParams: [{ name: 'a', value: '2, 1', multiple: 'joined' }] },
    [{ target: '/?a=2&a=1' }],
    [{ target: '/?a=1&a=2' }, { target: '/?a=2' }, {}],
  ],
  [
    'header: cookies are joined by a semicolon',
    { headers: [{ name: 'cookie', value: 'a=1; b=2' }] },
    [{ headers: { cookie: ['a=1', 'b=2'] } }],
    [{ headers: { cookie: 'a=1' } }],
  ],
  [
    'header: presence; empty is absent',
    { headers: [{ name: 'x-a' }] },
    [{ headers: { 'x-a': 'z' } }],
    [{}, { headers: { 'x-a': '' } }],
  ],
  [
    'header: regex anywhere; empty is absent',
    { headers: [{ name: 'x-a', value: 'b|^$', regex: true }] },
    [{ headers: { 'x-a': 'abc' } }],
    [{ headers: { 'x-a': 'c' } }, { headers: { 'x-a': '' } }],
  ],
  [
    'header: host is the authority',
    { headers: [{ name: 'Host', value: 'shop.test:81' }] },
    [{ authority: 'shop.test:81' }],
    [{ authority: shop }],
  ],
  [
    'query: first value, decoded',
    { queryParams: [{ name: 'q p', value: 'a b' }] },
    [{ target: '/?q+p=a+b' }, { target: '/?q%20p=a%20b&q+p=c' }],
    [{}, { target: '/?q+p=c&q+p=a+b' }, { target: '/?Q+p=a+b' }],
  ],
  [
    'query: a name that begins with a question mark',
    { queryParams: [{ name: '?key', value: 'k' }] },
    [{ target: '/??key=k' }],
    [{ target: '/?key=k' }],
  ],
  [
    'query: ; separates nothing',
    { queryParams: [{ name: 'a', value: '1;b=2' }] },
    [{ target: '/?a=1;b=2' }],
    [{ target: '/?a=1&b=2' }],
  ],
  [
    'query: presence, even when empty',
    { queryParams: [{ name: 'a' }] },
    [{ target: '/?a' }, { target: '/?a=' }],
    [{ target: '/?b=a' }],
  ],
  [
    'query: regex anywhere',
    { queryParams: [{ name: 'a', value: '[0-9]', regex: true }] },
    [{ target: '/?a=x7y' }],
    [{ target: '/?a=x' }],
  ],
  [
    'CEL: an error is no match',
    { cel: 'request.headers["x-a"] == "1"' },
    [{ headers: { 'x-a': '1' } }],
    [{}, { headers: { 'x-a': '2' } }],
  ],
];

describe('a matcher beside the path', () => {
  for (const [row, match, agrees, not] of rows) {
    it(`follows the row ${row}`, () => {
      const table = tableOf({ routes: [aRoute('r', match)] });
      for (const sent of agrees) expect(winner(table, sent), JSON.stringify(sent)).to.equal('r');
      for (const sent of not) expect(winner(table, sent), JSON.stringify(sent)).to.equal(undefined);
    });
  }

  it('must agree together with all others', () => {
    const match: Match = {
      methods: ['GET'],
      headers: [{ name: 'x-a' }],
      queryParams: [{ name: 'q' }],
      cel: 'request.scheme == "http"',
    };
    const table = tableOf({ routes: [aRoute('r', match)] });
    const whole = { target: '/?q', headers: { 'x-a': '1' } };
    expect(winner(table, whole)).to.equal('r');
    for (const part of [{ method: 'PUT' }, { target: '/' }, { headers: {} }, { scheme: 'https' }] as const) {
      expect(winner(table, { ...whole, ...part }), JSON.stringify(part)).to.equal(undefined);
    }
  });

  it('evaluates an expression last: after every other matcher', () => {
    const match: Match = { cel: 'true', queryParams: [{ name: 'q' }], headers: [{ name: 'h' }], grpc: true };
    const table = tableOf({ routes: [aRoute('r', match)] });
    expect(table.entries[0]?.matchers.map(({ kind }) => kind)).to.deep.equal(['grpc', 'header', 'query', 'cel']);
  });

  it('takes the hostnames and headers of group and route together', () => {
    const table = tableOf({
      routes: [aRoute('r', { hostnames: ['a.test'], headers: [{ name: 'x-r' }] })],
      groups: [aGroup('g', ['r'], { hostnames: ['b.test'], headers: [{ name: 'x-g' }] })],
    });
    const headers = { 'x-r': '1', 'x-g': '1' };
    expect(winner(table, { authority: 'a.test', headers })).to.equal('r');
    expect(winner(table, { authority: 'b.test', headers })).to.equal('r');
    expect(winner(table, { authority: 'c.test', headers })).to.equal(undefined);
    expect(winner(table, { authority: 'a.test', headers: { 'x-r': '1' } })).to.equal(undefined);
  });
});
