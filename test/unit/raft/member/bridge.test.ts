import { expect } from 'chai';
import { type Call, CallQueue, callerOf, invoke, largeMemory } from '../../../../raft/member/bridge.ts';

interface Taps {
  one(text: string): void;
  other(a: number, b?: number): void;
}

function bed() {
  const crossings: (readonly Call[])[] = [];
  const turns: (() => void)[] = [];
  const pauses: (() => void)[] = [];
  const queue = new CallQueue(
    (calls) => crossings.push(calls),
    (run) => turns.push(run),
    (run) => pauses.push(run),
  );
  const caller = callerOf<Taps>({ one: true, other: true }, queue.add);
  const endTurn = (): void => {
    for (const run of turns.splice(0)) run();
  };
  const pause = (): void => {
    for (const run of pauses.splice(0)) run();
  };
  return { crossings, caller, endTurn, queue, pause };
}

describe('the bridge between the main thread and the raft worker', () => {
  it('carries the calls of one turn over together, in order', () => {
    const { crossings, caller, endTurn } = bed();
    caller.one('a');
    caller.other(1, 2);
    caller.one('b');
    expect(crossings).to.be.empty;
    endTurn();
    caller.other(3);
    endTurn();
    endTurn();
    const carried: string[] = [];
    const target: Taps = {
      one: (text) => carried.push(text),
      other: (a, b) => carried.push(`${a} ${b}`),
    };
    for (const calls of crossings) for (const call of structuredClone(calls)) invoke(target, call);
    expect(crossings).to.have.length(2);
    expect(carried).to.deep.equal(['a', '1 2', 'b', '3 undefined']);
  });

  it('hands over the memory of large commands that is all theirs', () => {
    const large = new Uint8Array(100_000);
    const small = new Uint8Array(100);
    const part = new Uint8Array(new ArrayBuffer(200_000), 0, 100_000);
    const batch = (payloads: Uint8Array): Call => ['committed', { payloads }];
    expect(largeMemory([['propose', 1, large], ['propose', 2, small], batch(part)])).to.deep.equal([large.buffer]);
    expect(largeMemory([['alive'], batch(large)])).to.deep.equal([large.buffer]);
  });

  it('lets what is not urgent go with the next call, and alone after a while; of several the last', () => {
    const { crossings, caller, endTurn, queue, pause } = bed();
    queue.addIdle(['other', 1]);
    queue.addIdle(['other', 2]);
    endTurn();
    expect(crossings).to.be.empty;
    caller.one('a');
    endTurn();
    pause();
    queue.addIdle(['other', 3]);
    pause();
    expect(crossings).to.deep.equal([
      [
        ['other', 2],
        ['one', 'a'],
      ],
      [['other', 3]],
    ]);
  });

  it('calls methods on what has them', () => {
    class Counter {
      #count = 0;
      add(by: number): void {
        this.#count += by;
      }
      get count(): number {
        return this.#count;
      }
    }
    const counter = new Counter();
    invoke(counter, ['add', 2]);
    invoke(counter, ['add', 3]);
    expect(counter.count).to.equal(5);
  });
});
