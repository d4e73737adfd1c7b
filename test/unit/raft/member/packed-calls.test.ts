import { expect } from 'chai';
import fc from 'fast-check';
import type { Call } from '../../../../raft/member/bridge.ts';
import { packCalls, unpackCall } from '../../../../raft/member/packed-calls.ts';

const number = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const payload = fc.oneof(
  fc.uint8Array({ maxLength: 20 }),
  fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.concat([bytes, Buffer.alloc(64 * 1024)])),
);
const call: fc.Arbitrary<Call> = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(fc.constant('propose'), number, payload) },
  {
    weight: 3,
    arbitrary: number.chain((id) => number.map((index): Call => ['outcome', id, { kind: 'committed', index }])),
  },
  number.map((id): Call => ['outcome', id, { kind: 'notApplied', why: 'not leader' }]),
  number.map((id): Call => ['read', id]),
);

function carriedOver(calls: readonly Call[]): Call[] {
  const carried: Call[] = [];
  for (const crossed of structuredClone(packCalls(calls))) unpackCall(crossed, (each) => carried.push(each));
  return carried;
}

/** A buffer of Node's comes out as plain bytes. */
const plain = (calls: readonly Call[]) =>
  calls.map((each) => each.map((value) => (value instanceof Uint8Array ? [...value] : value)));

describe('packed calls', () => {
  it('come out as they went in', () => {
    fc.assert(
      fc.property(fc.array(call), (calls) => {
        expect(plain(carriedOver(calls))).to.deep.equal(plain(calls));
      }),
      { numRuns: 50 },
    );
  });

  it('make one of the proposals of many clients, and one of what is committed', () => {
    const outcome = (id: number): Call => ['outcome', id, { kind: 'committed', index: id }];
    const proposal = (id: number): Call => ['propose', id, Buffer.from('of a pool')];
    const packed = packCalls([proposal(1), proposal(2), outcome(1), outcome(2), ['read', 7], proposal(3)]);
    expect(packed.map(([name]) => name)).to.deep.equal(['proposals', 'agreed', 'read', 'proposals']);
  });

  it('keep no pool alive, and no long payload for the sake of short ones', () => {
    const long = new Uint8Array(100_000);
    const calls: Call[] = [1, 2, 3].map((id) => ['propose', id, id === 2 ? long : Buffer.from('short')]);
    const kept = carriedOver(calls).map(([, , bytes]) => (bytes as Uint8Array).buffer.byteLength);
    expect(kept).to.deep.equal([5, 100_000, 5]);
  });
});
