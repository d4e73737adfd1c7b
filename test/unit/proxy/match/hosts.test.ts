import { expect } from 'chai';
import { hostOf } from '../../../../src/proxy/target/host.ts';
import { aRoute, tableOf, winner } from '../../../support/routing.ts';

describe('the host of a request', () => {
  const spellings: readonly (readonly [authority: string, host: string])[] = [
    ['shop.test', 'shop.test'],
    ['Shop.TEST:8080', 'shop.test'],
    ['shop.test.', 'shop.test'],
    ['shop.test.:443', 'shop.test'],
    ['shop.test..', 'shop.test.'],
    ['.', '.'],
    ['', ''],
    ['[2001:DB8::1]', '2001:db8::1'],
    ['[::1]:80', '::1'],
    ['[0:0:0:0:0:0:0:1]:80', '::1'],
    ['[2001:0DB8:0::0001]', '2001:db8::1'],
    ['[1::2::3]', '1::2::3'],
    ['10.0.0.1:80', '10.0.0.1'],
  ];
  for (const [authority, host] of spellings) {
    it(`has one spelling: ${JSON.stringify(authority)}`, () => expect(hostOf(authority)).to.equal(host));
  }

  /** Returns whether a route for `pattern` wins a request to `authority`. */
  const matches = (pattern: string, authority: string): boolean =>
    winner(tableOf({ routes: [aRoute('r', { hostnames: [pattern] })] }), { authority }) === 'r';

  it('matches with a point at its end as it does without, and so does a pattern', () => {
    for (const pattern of ['shop.test', 'shop.test.', '*.test', '*.test.', '*']) {
      for (const authority of ['shop.test', 'shop.test.', 'SHOP.test.:80']) {
        expect(matches(pattern, authority), `${pattern} ${authority}`).to.equal(true);
      }
    }
    expect(matches('shop.test', 'shop.test..')).to.equal(false);
  });

  it('of IPv6 matches in every form, and so does a pattern', () => {
    for (const pattern of ['[::1]', '::1', '0:0:0:0:0:0:0:1', '[0::1]']) {
      for (const authority of ['[::1]', '[0:0:0:0:0:0:0:1]:80', '[0::0001]']) {
        expect(matches(pattern, authority), `${pattern} ${authority}`).to.equal(true);
      }
    }
  });

  it('gives expressions no other spelling to get past', () => {
    const table = tableOf({ routes: [aRoute('open', { cel: 'request.host != "admin.test"' })] });
    expect(winner(table, { authority: 'admin.test.' })).to.equal(undefined);
    expect(winner(table, { authority: 'shop.test.' })).to.equal('open');
  });

  it('is any for the asterisk alone', () => {
    expect(matches('*.', 'shop.test')).to.equal(false);
    expect(matches('*.', '*')).to.equal(true);
  });
});
