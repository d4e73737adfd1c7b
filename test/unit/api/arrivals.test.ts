import { expect } from 'chai';
import { Arrivals } from '../../../src/api/arrivals.ts';

/** Arrivals with a clock that advances only while a request is taken. */
class Bench {
  now = 0;
  readonly turns: (() => void)[] = [];
  readonly taken: string[] = [];
  readonly gone = new Set<string>();
  readonly arrivals = new Arrivals({ now: () => this.now, later: (run) => this.turns.push(run) });

  arrive(name: string): void {
    const take = (): void => {
      this.taken.push(name);
      this.now += 3;
    };
    this.arrivals.add({ isGone: () => this.gone.has(name), take });
  }

  turn(): void {
    for (const run of this.turns.splice(0)) run();
  }
}

describe('requests for the stream', () => {
  let bench: Bench;

  beforeEach(() => {
    bench = new Bench();
  });

  it('are taken at once while there are few', () => {
    for (const name of ['a', 'b', 'c']) {
      bench.arrive(name);
      bench.turn();
    }
    expect(bench.taken).to.deep.equal(['a', 'b', 'c']);
    bench.turn();
    expect(bench.turns).to.deep.equal([]);
  });

  it('wait for a later turn when there are many, and keep their order', () => {
    const names = Array.from({ length: 20 }, (_, i) => `p${i}`);
    for (const name of names.slice(0, 15)) bench.arrive(name);
    expect(bench.taken).to.have.length(3);
    for (let turns = 0; bench.taken.length < 20; turns++) {
      const before = bench.taken.length;
      bench.turn();
      if (turns === 0) for (const name of names.slice(15)) bench.arrive(name);
      expect(bench.taken.length - before).to.be.within(1, 3);
    }
    expect(bench.taken).to.deep.equal(names);
    bench.turn();
    expect(bench.turns).to.deep.equal([]);
  });

  it('are passed over when they have gone', () => {
    for (let i = 0; i < 6; i++) bench.arrive(`p${i}`);
    bench.gone.add('p4');
    bench.turn();
    expect(bench.taken).to.deep.equal(['p0', 'p1', 'p2', 'p3', 'p5']);
  });

  it('go on behind one that failed', () => {
    for (let i = 0; i < 3; i++) bench.arrive(`p${i}`);
    const fail = (): never => {
      throw new Error('no');
    };
    bench.arrivals.add({ isGone: () => false, take: fail });
    bench.arrive('last');
    expect(() => bench.turn()).to.throw('no');
    bench.turn();
    expect(bench.taken.at(-1)).to.equal('last');
  });
});
