import { expect } from 'chai';
import type { BatchOutcome } from '../../../src/state/command.ts';
import type { Touched } from '../../../src/state/live-base.ts';
import { summed } from '../../../src/state/outcome-sum.ts';
import type { Decision } from '../../../src/state/refusals.ts';

/** Sum of the outcomes of operations on routes and groups in turn. */
function sumOf(outcomes: readonly BatchOutcome[]) {
  const found = outcomes.filter(([id]) => id !== '');
  const touched = found.map((_, at) => ({ kind: at % 2 === 0 ? 'routes' : 'groups' }) as Touched);
  const steps = summed({ outcomes } as Decision, touched);
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

describe('the sum of the outcomes of a large batch', () => {
  it('counts what changed, and names it with what belongs to another owner', () => {
    const decision = sumOf([
      ['a', 1, 1],
      ['', 0, 0],
      ['b', 2, 0, 'shop'],
      ['c', 3, 1, 'desk'],
    ]);
    expect(decision).to.deep.equal({
      sum: {
        changed: 2,
        ids: ['a', 'c'],
        owned: [
          ['groups', 'b', 'shop'],
          ['routes', 'c', 'desk'],
        ],
      },
    });
  });

  it('names the first hundred that changed, and the first thousand of other owners', () => {
    const { sum } = sumOf(Array.from({ length: 1_200 }, (_, at) => [`r${at}`, at, 1, 'shop'] as const));
    expect(sum?.changed).to.equal(1_200);
    expect(sum?.ids).to.have.lengthOf(100);
    expect(sum?.ids.at(-1)).to.equal('r99');
    expect(sum?.owned).to.have.lengthOf(1_000);
  });

  it('leaves a refusal as it is', () => {
    const refusal = { result: { status: 409 } } as unknown as Decision;
    expect(summed(refusal, []).next()).to.deep.equal({ done: true, value: refusal });
  });
});
