import { expect } from 'chai';
import { formatAddress, parseAddress } from '../../../src/api/address.ts';

describe('listen address', () => {
  const cases: [text: string, host: string, port: number][] = [
    [':8080', '', 8080],
    ['127.0.0.1:0', '127.0.0.1', 0],
    ['sluice.example:443', 'sluice.example', 443],
    ['[::1]:8080', '::1', 8080],
  ];
  for (const [text, host, port] of cases) {
    it(`reads ${text} and writes it again`, () => {
      expect(parseAddress(text)).to.deep.equal({ host, port });
      expect(formatAddress({ host, port })).to.equal(text);
    });
  }

  for (const text of ['', '8080', '::1:8080', 'a:65536', 'a:', 'a:1:2', 'http://a:1']) {
    it(`refuses "${text}"`, () => {
      expect(() => parseAddress(text)).to.throw(RangeError);
    });
  }
});
