import { expect } from 'chai';
import { parseCidr } from '../../../src/model/cidr.ts';

describe('address ranges', () => {
  it('reads ranges and bare addresses of both families', () => {
    expect(parseCidr('10.0.0.0/8')).to.deep.equal({ address: '10.0.0.0', bits: 8, family: 'ipv4' });
    expect(parseCidr('10.1.2.3')).to.deep.equal({ address: '10.1.2.3', bits: 32, family: 'ipv4' });
    expect(parseCidr('fd00::/8')).to.deep.equal({ address: 'fd00::', bits: 8, family: 'ipv6' });
    expect(parseCidr('::1')).to.deep.equal({ address: '::1', bits: 128, family: 'ipv6' });
    expect(parseCidr('0.0.0.0/0')?.bits).to.equal(0);
  });

  const refused = [
    '',
    'a',
    '10.0.0.0/',
    '10.0.0.0/33',
    '::/129',
    '10.0.0/8',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
  ];
  for (const text of [...refused, 'fe80::1%eth0', '[::1]', ' 10.0.0.1', '10.0.0.1/ 8', '10.0.0.0/255.0.0.0']) {
    it(`refuses ${JSON.stringify(text)}`, () => expect(parseCidr(text)).to.equal(undefined));
  }
});
