import { expect } from 'chai';
import { plainIp, TrustedProxies } from '../../../../src/proxy/message/client-address.ts';

describe('the client of a request (architecture.md §6.9, security.md S14)', () => {
  const trusted = ['10.0.0.0/8', '127.0.0.1', 'fd00::/8'];
  const rows: readonly (readonly [what: string, peer: string, forwardedFor: string | undefined, client: string])[] = [
    ['a stranger, whatever it says', '192.0.2.1', '198.51.100.7', '192.0.2.1'],
    ['a proxy without the field', '10.0.0.1', undefined, '10.0.0.1'],
    ['a proxy that names one client', '10.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['the rightmost that is not trusted', '10.0.0.1', '203.0.113.9, 198.51.100.7, 10.0.0.2', '198.51.100.7'],
    ['all are trusted: the leftmost', '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['what is no address ends the walk', '10.0.0.1', '198.51.100.7, unknown, 10.0.0.2', '10.0.0.2'],
    ['nothing between two commas is no element', '10.0.0.1', '198.51.100.7,, 10.0.0.2', '198.51.100.7'],
    ['nothing behind the last comma neither', '10.0.0.1', '9.9.9.9,', '9.9.9.9'],
    ['blanks between commas neither', '10.0.0.1', ' , 9.9.9.9 ,\t,', '9.9.9.9'],
    ['a peer of IPv4 within IPv6', '::ffff:10.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['a client of IPv4 within IPv6', '10.0.0.1', '::ffff:198.51.100.7', '198.51.100.7'],
    ['the same in hexadecimal', '10.0.0.1', '::ffff:c633:6407', '198.51.100.7'],
    ['a proxy in hexadecimal', '10.0.0.1', '198.51.100.7, ::FFFF:0a00:0002', '198.51.100.7'],
    ['a port behind an address', '10.0.0.1', '203.0.113.9, 198.51.100.7:4711, 10.0.0.2:80', '198.51.100.7'],
    ['a port behind IPv6', '10.0.0.1', '[2001:db8::7]:4711', '2001:db8::7'],
    ['IPv6 in capitals and at full length', '10.0.0.1', '2001:0DB8:0:0:0:0:0:0007', '2001:db8::7'],
    ['IPv6 that ends as IPv4 does', '10.0.0.1', '64:FF9B::192.0.2.33', '64:ff9b::c000:221'],
    ['IPv6, in brackets or not', 'fd00::1', '[2001:db8::7], fd00::2', '2001:db8::7'],
  ];
  for (const [what, peer, forwardedFor, client] of rows) {
    it(what, () => expect(new TrustedProxies(trusted).locate(peer, forwardedFor).clientIp).to.equal(client));
  }

  it('a text that is neither an address nor a range trusts no peer', () => {
    const { clientIp, peerTrusted } = new TrustedProxies(['10.0.0.1/99', 'proxy', '']).locate('10.0.0.1', '192.0.2.1');
    expect([clientIp, peerTrusted]).to.deep.equal(['10.0.0.1', false]);
  });

  it('an address has one spelling', () => {
    const same = ['10.0.0.1', '::ffff:10.0.0.1', '::ffff:a00:1', '::FFFF:0A00:0001', '0:0:0:0:0:ffff:10.0.0.1'];
    expect(new Set(same.map(plainIp))).to.deep.equal(new Set(['10.0.0.1']));
    expect(plainIp('[fe80::1%eth0]')).to.equal('fe80::1');
    expect(plainIp('::1')).to.equal('::1');
  });
});
