import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { LoopTurns } from '../../../src/util/loop-turns.ts';

/** Steps of a millisecond each, of a clock that stands still between them. */
class Desk {
  readonly turns = new LoopTurns({ now: () => this.#nowMs, later: (run) => void this.#later.push(run) });
  /** Names of the steps of each turn. */
  readonly worked: string[][] = [[]];
  readonly #later: (() => void)[] = [];
  #nowMs = 0;

  *steps(name: string, count: number): Generator<void, string> {
    for (let step = 0; step < count; step++) {
      this.#nowMs++;
      this.worked.at(-1)?.push(name);
      yield;
    }
    return name;
  }

  /** Runs turns of the loop until there is none to come. */
  async runAll(): Promise<void> {
    for (;;) {
      await nextTurn();
      const due = this.#later.splice(0);
      if (due.length === 0) return;
      this.worked.push([]);
      for (const run of due) run();
    }
  }
}

describe('turns of the event loop', () => {
  it('hold other work up for one turn’s milliseconds, however many tasks begin in it', async () => {
    const desk = new Desk();
    const tasks = Array.from({ length: 100 }, (_, at) => desk.turns.run(desk.steps(`t${at}`, 10), 6));
    await desk.runAll();
    expect(await Promise.all(tasks)).to.deep.equal(Array.from({ length: 100 }, (_, at) => `t${at}`));
    expect(desk.worked.flat()).to.have.lengthOf(1_000);
    expect(Math.max(...desk.worked.map(({ length }) => length))).to.be.at.most(6);
  });

  it('go to tasks in the order in which they asked, and none goes twice before all have', async () => {
    const desk = new Desk();
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const tasks = names.map((name) => desk.turns.run(desk.steps(name, 3), 2));
    await desk.runAll();
    await Promise.all(tasks);
    // The first one began before there were others.
    expect(desk.worked[0]).to.deep.equal(['a', 'a']);
    expect(desk.worked.slice(1).flat().slice(0, names.length)).to.deep.equal(names);
  });

  it('belong to one task where there is no other', async () => {
    const desk = new Desk();
    const task = desk.turns.run(desk.steps('a', 14), 6);
    await desk.runAll();
    await task;
    expect(desk.worked.map(({ length }) => length).filter((length) => length > 0)).to.deep.equal([6, 6, 2]);
  });

  it('have a shorter part for work that must hold others up less', async () => {
    const desk = new Desk();
    const tasks = [desk.turns.run(desk.steps('short', 6), 2), desk.turns.run(desk.steps('long', 6), 6)];
    await desk.runAll();
    await Promise.all(tasks);
    for (const turn of desk.worked) expect(turn.lastIndexOf('short')).to.be.below(2);
  });

  it('go on where a task fails', async () => {
    const desk = new Desk();
    function* failing(): Generator<void, string> {
      yield* desk.steps('bad', 8);
      throw new Error('it fails');
    }
    const bad = desk.turns.run(failing(), 6).catch((error: Error) => error.message);
    const good = desk.turns.run(desk.steps('good', 20), 6);
    await desk.runAll();
    expect(await bad).to.equal('it fails');
    expect(await good).to.equal('good');
  });

  it('are waited for by work that is no generator', async () => {
    const desk = new Desk();
    const task = desk.turns.run(desk.steps('a', 6), 6);
    const slice = desk.turns.slice(6);
    expect(slice).to.be.a('promise');
    await desk.runAll();
    await task;
    expect(await slice).to.be.above(6);
    expect(desk.turns.slice(6)).to.be.a('number');
  });
});
