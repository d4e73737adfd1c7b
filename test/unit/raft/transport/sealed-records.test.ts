import { expect } from 'chai';
import fc from 'fast-check';

import { RecordOpener, RecordSealer } from '../../../../raft/transport/sealed-records.ts';

const key = new Uint8Array(32).fill(7);

/** Contents that an opener gives for those chunks, and the problem that ended it. */
function opened(chunks: readonly Buffer[], opener = new RecordOpener(key)) {
  const contents: Buffer[] = [];
  let problem: string | undefined;
  for (const chunk of chunks) {
    problem = opener.push(chunk, (content) => {
      contents.push(Buffer.from(content));
      return undefined;
    });
    if (problem !== undefined) break;
  }
  return { text: Buffer.concat(contents).toString('latin1'), count: contents.length, problem };
}

const sealedBy = (sealer: RecordSealer, text: string): Buffer => Buffer.concat(sealer.seal([Buffer.from(text)]));
const changed = /a sealed record is not what the peer sent/;

describe('sealed records', () => {
  it('open to what was sealed, however the network cuts them', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.uint8Array({ minLength: 1, maxLength: 3000 }), { minLength: 1, maxLength: 4 }), {
          maxLength: 5,
        }),
        fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1 }),
        (batches, cuts) => {
          const sealer = new RecordSealer(key);
          const wire = Buffer.concat(batches.flatMap((parts) => sealer.seal(parts)));
          const chunks: Buffer[] = [];
          for (let at = 0, n = 0; at < wire.length; n += 1) {
            const end = at + (cuts[n % cuts.length] ?? 1);
            chunks.push(wire.subarray(at, end));
            at = end;
          }
          const { text, problem } = opened(chunks);
          expect(problem).to.equal(undefined);
          expect(text).to.equal(Buffer.concat(batches.flat().map((part) => Buffer.from(part))).toString('latin1'));
        },
      ),
      { numRuns: 100 },
    );
  });

  it('hold large parts too, which are not copied together', () => {
    const parts = [256, 256, 1, 100].map((kib, at) => Buffer.alloc(kib * 1024, at));
    const { text, count, problem } = opened([Buffer.concat(new RecordSealer(key).seal(parts))]);
    expect({ problem, count, same: text === Buffer.concat(parts).toString('latin1') }).to.deep.equal({
      problem: undefined,
      count: 2,
      same: true,
    });
  });

  it('hide their content', () => {
    expect(sealedBy(new RecordSealer(key), 'a secret of an entry').toString('latin1')).not.to.include('secret');
  });

  it('do not open with any bit changed, and give nothing of what they held', () => {
    const record = sealedBy(new RecordSealer(key), 'word');
    for (let bit = 0; bit < record.length * 8; bit += 1) {
      const other = Buffer.from(record);
      other[bit >> 3] = (other[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const { text, problem } = opened([other, Buffer.alloc(64)]);
      expect({ text, isRefused: problem !== undefined || bit < 32 }, `bit ${bit}`).to.deep.equal({
        text: '',
        isRefused: true,
      });
    }
  });

  it('do not open a second time, out of their order, or with one left out', () => {
    const sealer = new RecordSealer(key);
    const [first, second] = [sealedBy(sealer, 'first'), sealedBy(sealer, 'second')];
    expect(opened([first, first]))
      .to.deep.include({ text: 'first' })
      .and.property('problem')
      .to.match(changed);
    expect(opened([second, first]))
      .to.deep.include({ text: '' })
      .and.property('problem')
      .to.match(changed);
    expect(opened([second]))
      .to.deep.include({ text: '' })
      .and.property('problem')
      .to.match(changed);
  });

  it('do not open under the key of the other direction', () => {
    const other = new Uint8Array(32).fill(8);
    expect(opened([sealedBy(new RecordSealer(key), 'mine')], new RecordOpener(other)).problem).to.match(changed);
  });

  it('are refused by their length alone when none can be so long, or so short', () => {
    for (const length of [0, 512 * 1024 + 1, 2 ** 32 - 1]) {
      const head = Buffer.alloc(4);
      head.writeUInt32BE(length);
      expect(opened([head]).problem).to.equal(`sealed record of ${length} bytes`);
    }
  });

  it('go on under the key that follows, on both sides alike, after so many records or bytes', () => {
    for (const limits of [
      { records: 3, bytes: 1e9 },
      { records: 1e9, bytes: 10 },
    ]) {
      const sealer = new RecordSealer(key, limits);
      const wire = Array.from({ length: 20 }, (_, n) => sealedBy(sealer, `record ${n},`));
      const { count, problem } = opened(wire, new RecordOpener(key, limits));
      expect({ count, problem }).to.deep.equal({ count: 20, problem: undefined });
      expect(opened(wire, new RecordOpener(key)).problem, 'the first key for ever').to.match(changed);
    }
  });
});
