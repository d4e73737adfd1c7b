import { expect } from 'chai';
import { compileCel } from '../../../../src/expression/cel/compiled-program.ts';
import { leastCpuMs } from '../../../support/cpu-time.ts';
import { mixedExpressions, mixedRequests } from './mixed-expressions.ts';

describe('fifty mixed expressions', () => {
  const programs = mixedExpressions.map((source) => compileCel(source, 'request', 'bool'));

  it('take less than 5 µs of CPU each', () => {
    const passes = 50;
    const pass = (): number =>
      mixedRequests.reduce((sum, view) => sum + programs.filter((program) => program.decide(view) === true).length, 0);
    const agreed = pass();
    const tookMs = leastCpuMs(() => {
      for (let i = 0; i < passes; i++) expect(pass()).to.equal(agreed);
    });
    expect(agreed).to.be.within(5 * mixedRequests.length, 45 * mixedRequests.length);
    expect((tookMs * 1_000) / passes / programs.length / mixedRequests.length).to.be.below(5);
  });
});
