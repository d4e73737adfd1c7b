import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { plainDigests } from '../../../src/state/state-hash.ts';
import { anyText } from '../../support/any-text.ts';

/** By the words of the rule: the first 64 bits of SHA-256 over key, a zero and the body. */
const slowly = (key: string, body: Uint8Array): bigint =>
  createHash('sha256')
    .update(Buffer.concat([Buffer.from(key), Buffer.of(0), body]))
    .digest()
    .readBigUInt64BE();

describe('the digest of a row', () => {
  it('is the same for a text and for its bytes', () => {
    fc.assert(
      fc.property(anyText(20), anyText(50), (key, body) => {
        const wanted = slowly(key, Buffer.from(body));
        expect(plainDigests.of(key, body)).to.equal(wanted);
        expect(plainDigests.of(key, Buffer.from(body))).to.equal(wanted);
      }),
      { numRuns: 50 },
    );
  });

  it('is the same for long ones', () => {
    for (const length of [64 * 1024, 64 * 1024 + 1]) {
      const body = 'ä'.repeat(length);
      expect(plainDigests.of('e/routes/a', body)).to.equal(slowly('e/routes/a', Buffer.from(body)));
    }
  });
});
