// Addresses and ranges in expressions, as Kubernetes' CEL library has them, and isPrivate.
import { BlockList, isIP } from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import { checkCel, compileCel } from '../../../../src/expression/cel/compiled-program.ts';
import { aRequest } from './request-facts.ts';

const decided = (source: string, clientIp = '10.1.2.3') =>
  compileCel(source, 'request', 'bool').decide(aRequest({ clientIp, headers: { a: '10.0.0.0/8', b: 'x' } }));

describe('addresses in expressions', () => {
  for (const [source, holds] of [
    ['ip(request.clientIp) == ip("10.1.2.3")', true],
    ['ip(request.clientIp) != ip("10.1.2.4")', true],
    ['ip("2001:DB8:0:0::1") == ip("2001:db8::1")', true],
    ['ip("10.0.0.1") == ip("::a00:1")', false],
    ['cidr("10.0.0.0/8").containsIP(request.clientIp)', true],
    ['cidr("10.0.0.0/8").containsIP(ip("11.0.0.0"))', false],
    ['cidr("10.1.2.3/32").containsIP(request.clientIp)', true],
    ['cidr("0.0.0.0/0").containsIP(request.clientIp)', true],
    ['cidr("::/0").containsIP(request.clientIp)', false],
    ['cidr("2001:db8::/33").containsIP("2001:db8:7fff::1")', true],
    ['cidr("2001:db8::/33").containsIP("2001:db8:8000::1")', false],
    ['cidr(request.headers.a).containsIP(request.clientIp)', true],
    ['cidr("10.0.0.0/8").containsCIDR("10.9.0.0/16")', true],
    ['cidr("10.9.0.0/16").containsCIDR(cidr("10.0.0.0/8"))', false],
    ['cidr("10.0.0.0/8").containsCIDR(cidr("10.0.0.0/8"))', true],
    ['cidr("10.9.8.7/8").masked() == cidr("10.0.0.0/8")', true],
    ['cidr("10.9.8.7/8") == cidr("10.0.0.0/8")', false],
    ['string(cidr("2001:db8:1:2::/33").masked()) == "2001:db8::/33"', true],
    ['cidr("10.9.8.7/8").ip() == ip("10.9.8.7")', true],
    ['cidr("10.9.8.7/8").prefixLength() == 8', true],
    ['string(ip("2001:0db8:0000::0001")) == "2001:db8::1"', true],
    ['string(cidr("::1.2.3.4/128")) == "::102:304/128"', true],
    ['ip(request.clientIp).family() == 4 && ip("::1").family() == 6', true],
    ['isIP("10.0.0.1") && isIP("fe80::1")', true],
    ['isIP("10.0.0.01") || isIP("fe80::1%eth0") || isIP("::ffff:1.2.3.4") || isIP("10.0.0.0/8") || isIP("")', false],
    ['isCIDR("10.0.0.0/8") && isCIDR("::/0")', true],
    ['isCIDR("10.0.0.0") || isCIDR("10.0.0.0/33") || isCIDR("10.0.0.0/08") || isCIDR("::ffff:1.2.3.4/128")', false],
    [
      '["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.9.9", "fc00::1", "fdff::1"].all(a, ip(a).isPrivate())',
      true,
    ],
    ['["127.0.0.1", "172.32.0.1", "8.8.8.8", "::1", "fe80::1", "2001:db8::1"].exists(a, ip(a).isPrivate())', false],
    ['ip("127.9.9.9").isLoopback() && ip("::1").isLoopback() && !ip("8.8.8.8").isLoopback()', true],
    ['ip("0.0.0.0").isUnspecified() && ip("::").isUnspecified()', true],
    ['ip("169.254.1.1").isLinkLocalUnicast() && ip("fe80::1").isLinkLocalUnicast()', true],
    ['ip("224.0.0.1").isLinkLocalMulticast() && ip("ff02::1").isLinkLocalMulticast()', true],
    [
      'ip("8.8.8.8").isGlobalUnicast() && ip("10.0.0.1").isGlobalUnicast() && !ip("255.255.255.255").isGlobalUnicast()',
      true,
    ],
    ['ip(request.clientIp) in [ip("10.1.2.3")]', true],
    ['cel.bind(at, ip(request.clientIp), at.isPrivate() && at.family() == 4)', true],
  ] as const)
    it(`${source} is ${holds}`, () => expect(decided(source)).to.equal(holds));

  it('an address that a request brings and that is none is an error, which opens nothing', () => {
    for (const source of [
      'ip(request.headers.b).isPrivate()',
      'cidr(request.headers.b).containsIP(request.clientIp)',
      'cidr("10.0.0.0/8").containsIP(request.headers.b)',
      'cidr("10.0.0.0/8").containsCIDR(request.headers.b)',
      '!ip(request.headers.b).isPrivate()',
    ])
      expect(decided(source), source).to.equal('error');
  });

  for (const [source, message] of [
    ['ip("10.0.0.256").isPrivate()', 'cel: must be an IP address at line 1, column 4'],
    ['cidr("10.0.0.0/33").containsIP(request.clientIp)', 'cel: must be a range such as 10.0.0.0/8 at line 1, column 6'],
    ['cidr("10.0.0.0/8").containsIP("x")', 'cel: must be an IP address at line 1, column 31'],
    ['ip(request.clientIp)', 'cel: must be a bool, is net.IP at line 1, column 1'],
  ] as const)
    it(`${source} is refused with its place`, () => expect(checkCel(source, 'request', 'bool')).to.equal(message));

  it('functions over something else than an address are refused', () => {
    for (const source of ['ip(5) == ip("::1")', 'request.clientIp.isPrivate()', 'cidr("::/0").containsIP(5)'])
      expect(checkCel(source, 'request', 'bool'), source).to.match(/^cel: found no matching overload/);
  });

  it('ranges contain what node:net says that they contain', () => {
    const program = compileCel('cidr(request.headers.a).containsIP(request.clientIp)', 'request', 'bool');
    const pairs = fc.oneof(
      fc.tuple(fc.ipV4(), fc.ipV4(), fc.nat(32)),
      fc.tuple(fc.ipV6(), fc.ipV6(), fc.nat(128)),
      fc.tuple(fc.ipV6(), fc.nat(128)).map(([address, bits]): [string, string, number] => [address, address, bits]),
    );
    fc.assert(
      fc.property(pairs, ([network, address, bits]) => {
        const list = new BlockList();
        const family = isIP(network) === 4 ? 'ipv4' : 'ipv6';
        fc.pre(![network, address].some((text) => /^(0*:)*:?(0*:)*ffff:/i.test(text)));
        list.addSubnet(network, bits, family);
        const view = aRequest({ clientIp: address, headers: { a: `${network}/${bits}` } });
        expect(program.decide(view)).to.equal(list.check(address, family));
      }),
      { numRuns: 2_000 },
    );
  });
});
