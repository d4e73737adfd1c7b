import { expect } from 'chai';
import { authorityOf, isHostPattern, parseAuthority, parseHost } from '../../../src/model/host-name.ts';

describe('hosts (contract.md §0.3)', () => {
  const hosts: readonly [text: string, bare: string][] = [
    ['localhost', 'localhost'],
    ['catalog.internal', 'catalog.internal'],
    ['catalog.internal.', 'catalog.internal.'],
    ['my_service', 'my_service'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['10.0.0.1', '10.0.0.1'],
    ['::1', '::1'],
    ['[::1]', '::1'],
    ['2001:db8::10', '2001:db8::10'],
  ];
  for (const [text, bare] of hosts) it(`takes ${text}`, () => expect(parseHost(text)).to.equal(bare));

  const refused = [
    '',
    '.',
    'a..b',
    '-a',
    'a-',
    'a b',
    'http://a',
    'a:80',
    'a/b',
    'user@a',
    '[10.0.0.1]',
    '[localhost]',
    '[::1',
    '::1]',
    '[::1]:80',
    '999.1.1.1',
    '10.0.0.256',
    'a'.repeat(64),
    `${'abcdefg.'.repeat(32)}x`,
    'a\u0000b',
    'bücher.example',
  ];
  for (const text of refused) it(`refuses ${JSON.stringify(text)}`, () => expect(parseHost(text)).to.equal(undefined));

  it('reads a host with or without a port', () => {
    expect(parseAuthority('shop.example.com')).to.deep.equal({ host: 'shop.example.com' });
    expect(parseAuthority('shop.example.com:8443')).to.deep.equal({ host: 'shop.example.com', port: 8443 });
    expect(parseAuthority('[::1]:8443')).to.deep.equal({ host: '::1', port: 8443 });
    expect(parseAuthority('::1')).to.deep.equal({ host: '::1' });
  });

  for (const text of ['', ':80', 'a:', 'a:0', 'a:65536', 'a:+1', 'a:80:90', 'a:1e3', '1::2::3:80']) {
    it(`refuses the authority ${JSON.stringify(text)}`, () => expect(parseAuthority(text)).to.equal(undefined));
  }

  it('puts IPv6 into brackets in front of a port', () => {
    expect(authorityOf('::1', 80)).to.equal('[::1]:80');
    expect(authorityOf('[::1]', 80)).to.equal('[::1]:80');
    expect(authorityOf('10.0.0.1', 80)).to.equal('10.0.0.1:80');
    expect(authorityOf('a.example', 80)).to.equal('a.example:80');
  });

  it('knows the patterns of host matchers (contract.md §6.3)', () => {
    for (const pattern of ['*', '*.example.com', 'example.com', '10.0.0.1', '[::1]']) {
      expect(isHostPattern(pattern), pattern).to.equal(true);
    }
    for (const pattern of ['', '*.', '*example.com', 'a.*.b', '**', '*.*', 'example.com:80']) {
      expect(isHostPattern(pattern), pattern).to.equal(false);
    }
  });
});
